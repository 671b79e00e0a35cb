//! A GPU as the platform offers it.

/// An adapter that has not been used yet; it makes one device.
pub(crate) struct Adapter {
    pub(crate) raw: wgpu::Adapter,
    pub(crate) name: String,
    pub(crate) backend: wgpu::Backend,
    pub(crate) device_type: wgpu::DeviceType,
}
