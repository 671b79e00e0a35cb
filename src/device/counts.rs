//! What a context made, and what it holds.

/// Counts since the context was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Command buffers given to the queue.
    pub submits: u64,
    /// Kernels recorded.
    pub dispatches: u64,
    /// GPU buffers made, staging included.
    pub buffers_created: u64,
    /// Bind groups made.
    pub bind_groups_created: u64,
    /// Pipelines compiled.
    pub pipelines_created: u64,
}

/// Bytes of GPU memory that a context holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Memory {
    /// Buffers held by live tensors and caches.
    pub tensors: usize,
    /// Bytes of those buffers.
    pub live_bytes: u64,
    /// Bytes kept for reuse: free buffers, staging for reads, and the uniform ring.
    pub pooled_bytes: u64,
    /// The largest `live_bytes` so far.
    pub peak_bytes: u64,
}
