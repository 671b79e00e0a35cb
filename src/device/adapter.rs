//! Which GPU is best, and a device with all that its adapter allows.

use crate::error::{Error, ErrorKind, Result};
use crate::platform::{Adapter, answer};

/// Milliseconds that an adapter has to make a device.
const PATIENCE: f64 = 20_000.0;

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
            match answer(self.raw.request_device(&desc), "requestDevice", PATIENCE).await {
                Ok(Ok(made)) => return Ok(made),
                Ok(Err(e)) => refused = e.to_string(),
                Err(why) => refused = why,
            }
        }
        let why = format!("'{}' refused to make a device: {refused}", self.name);
        Err(Error::new("Context", ErrorKind::NoAdapter(why)))
    }
}
