//! Storage buffers by size class: taken by tensors, kept for reuse, given back to the GPU over a cap.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::verdict::Verdict;

/// A storage buffer of one of the pool's size classes.
pub(crate) struct Buffer {
    pub(crate) raw: wgpu::Buffer,
    /// Identity in bind group keys; never reused within a device.
    pub(crate) id: u32,
    pub(crate) size: u64,
    /// What the GPU said of the allocation.
    pub(crate) allocation: Verdict,
    last_batch: AtomicU64,
}

impl Buffer {
    pub(crate) fn new(raw: wgpu::Buffer, id: u32, size: u64, allocation: Verdict) -> Self {
        Self { raw, id, size, allocation, last_batch: AtomicU64::new(0) }
    }

    /// Notes that `batch` uses the buffer.
    pub(crate) fn used_in(&self, batch: u64) {
        self.last_batch.store(batch, Ordering::Relaxed);
    }

    /// Whether the buffer may turn out not to be there.
    pub(crate) fn risky(&self) -> bool {
        risky(self.size, &self.allocation)
    }

    /// Whether work that is recorded and not yet submitted uses the buffer.
    fn pending_in(&self, batch: u64) -> bool {
        self.last_batch.load(Ordering::Relaxed) == batch
    }
}

/// What a fresh buffer will hold first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum First {
    /// A dispatch, which runs after all work recorded before it.
    Dispatch,
    /// `Queue::write_buffer`, which overtakes the work that is recorded and not yet submitted.
    Write,
}

/// Free buffers, and the books of bytes.
///
/// The free buffer of lowest id is always taken: the same sequence of ops then gets the same buffers again, and so the
/// same bind groups.
pub(crate) struct Pool {
    /// Free bytes that are kept whatever is live.
    keep_bytes: u64,
    free: BTreeMap<(u64, u32), Arc<Buffer>>,
    next_id: u32,
    pub(crate) tensors: usize,
    pub(crate) live_bytes: u64,
    pub(crate) free_bytes: u64,
    pub(crate) peak_bytes: u64,
}

/// From so many bytes on a GPU may well have no memory for a buffer.
const RISKY_BYTES: u64 = 16 << 20;

/// Whether the GPU may still say that it had no memory for so many bytes.
pub(crate) fn risky(bytes: u64, allocation: &Verdict) -> bool {
    bytes >= RISKY_BYTES && !allocation.passed()
}

impl Pool {
    /// For a device with buffers of up to `largest` bytes, which tells a large GPU from a small one.
    pub(crate) fn new(largest: u64) -> Self {
        let keep_bytes = (largest / 8).max(64 << 20);
        Self { keep_bytes, free: BTreeMap::new(), next_id: 0, tensors: 0, live_bytes: 0, free_bytes: 0, peak_bytes: 0 }
    }

    /// The size class of `bytes`: powers of two up to 1 MiB, then four steps to each doubling.
    pub(crate) fn class(bytes: u64, largest: u64) -> u64 {
        let bytes = bytes.max(256);
        let step = if bytes <= 1 << 20 { bytes.next_power_of_two() } else { bytes.next_power_of_two() / 8 };
        // The last class may be cut short: kernels bind whole buffers.
        bytes.next_multiple_of(step).min(largest).max(bytes.next_multiple_of(16))
    }

    pub(crate) fn take(&mut self, size: u64, first: First, batch: u64) -> Option<Arc<Buffer>> {
        let usable = |b: &Buffer| b.allocation.failed().is_none() && (first == First::Dispatch || !b.pending_in(batch));
        let class = (size, 0)..=(size, u32::MAX);
        let key = self.free.range(class).find(|(_, b)| usable(b)).map(|(key, _)| *key)?;
        self.free_bytes -= size;
        self.free.remove(&key)
    }

    pub(crate) fn next_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn taken(&mut self, size: u64) {
        self.tensors += 1;
        self.live_bytes += size;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    /// Takes a buffer back; those to be destroyed are returned.
    pub(crate) fn put(&mut self, buffer: Arc<Buffer>, batch: u64) -> Vec<Arc<Buffer>> {
        self.tensors -= 1;
        self.live_bytes -= buffer.size;
        self.free_bytes += buffer.size;
        self.free.insert((buffer.size, buffer.id), buffer);
        self.trim(batch)
    }

    /// Removes the free buffers over the cap that were used longest ago, but none that unsubmitted work uses. At most as
    /// much is kept free as is live, so a footprint never more than doubles. Those used last are what the next round of
    /// the same ops will ask for, and making a large buffer takes longer than most kernels.
    pub(crate) fn trim(&mut self, batch: u64) -> Vec<Arc<Buffer>> {
        let mut gone = Vec::new();
        while self.free_bytes > self.live_bytes.max(self.keep_bytes) {
            let unused = self.free.iter().filter(|(_, b)| !b.pending_in(batch));
            let oldest = unused.min_by_key(|((size, _), b)| (b.last_batch.load(Ordering::Relaxed), Reverse(*size)));
            let Some(key) = oldest.map(|(key, _)| *key) else { break };
            self.free_bytes -= key.0;
            gone.extend(self.free.remove(&key));
        }
        gone
    }
}
