//! Which GPUs there are, which is best, and a device with all that the adapter allows.

use crate::error::{Error, ErrorKind, Result};
use crate::platform;

/// An adapter that has not been used yet; it makes one device.
pub(crate) struct Adapter {
    pub(crate) raw: wgpu::Adapter,
    pub(crate) name: String,
    pub(crate) backend: wgpu::Backend,
    pub(crate) device_type: wgpu::DeviceType,
}

/// Every adapter of every backend.
pub(crate) async fn adapters() -> Result<Vec<Adapter>> {
    platform::adapters().await
}

impl Adapter {
    pub(crate) fn software(&self) -> bool {
        self.device_type == wgpu::DeviceType::Cpu
    }

    /// Order of preference, smallest first: kind of GPU, then the backend that is most at home on its system.
    pub(crate) fn rank(&self) -> (u8, u8) {
        let kind = match self.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        let backend = match self.backend {
            wgpu::Backend::BrowserWebGpu | wgpu::Backend::Metal => 0,
            wgpu::Backend::Vulkan => 1,
            wgpu::Backend::Dx12 => 2,
            wgpu::Backend::Gl => 3,
            wgpu::Backend::Noop => 4,
        };
        (kind, backend)
    }

    /// A device with the adapter's own buffer limits, or if that is refused with WebGPU's defaults.
    pub(crate) async fn request_device(&self) -> Result<(wgpu::Device, wgpu::Queue)> {
        let own = self.raw.limits();
        let floor = wgpu::Limits::default().or_worse_values_from(&own);
        let wanted = wgpu::Limits {
            max_buffer_size: own.max_buffer_size,
            max_storage_buffer_binding_size: own.max_storage_buffer_binding_size,
            ..floor.clone()
        };
        let mut refused = String::new();
        for required_limits in [wanted, floor] {
            let desc = wgpu::DeviceDescriptor { label: Some("tensorweft"), required_limits, ..Default::default() };
            match self.raw.request_device(&desc).await {
                Ok(made) => return Ok(made),
                Err(e) => refused = e.to_string(),
            }
        }
        let why = format!("'{}' refused to make a device: {refused}", self.name);
        Err(Error::new("Context", ErrorKind::NoAdapter(why)))
    }
}
