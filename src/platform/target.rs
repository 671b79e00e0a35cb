//! Where an upload writes.

/// A buffer that is written before all work submitted later.
pub(crate) struct Target<'a> {
    pub(crate) queue: &'a wgpu::Queue,
    pub(crate) buffer: &'a wgpu::Buffer,
}

/// Bytes of one `write_buffer`.
const SLICE: usize = 16 << 20;

impl Target<'_> {
    /// Writes whole words in slices, so that wgpu's own staging stays small.
    pub(crate) fn write(&self, bytes: &[u8]) {
        for (slice, at) in bytes.chunks(SLICE).zip(0u64..) {
            self.queue.write_buffer(self.buffer, at * SLICE as u64, slice);
        }
    }
}
