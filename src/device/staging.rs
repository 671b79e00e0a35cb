//! Buffers that the host can map, kept for the next read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A buffer that can be mapped for reading. Its GPU memory goes with it.
pub(crate) struct Staging {
    pub(crate) raw: wgpu::Buffer,
    pub(crate) size: u64,
    bytes: Arc<AtomicU64>,
}

impl Staging {
    pub(crate) fn new(raw: wgpu::Buffer, size: u64, bytes: &Arc<AtomicU64>) -> Self {
        bytes.fetch_add(size, Ordering::Relaxed);
        Self { raw, size, bytes: bytes.clone() }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.raw.destroy();
        self.bytes.fetch_sub(self.size, Ordering::Relaxed);
    }
}

/// Staging bytes that are kept for the next reads.
const KEEP_BYTES: u64 = 128 << 20;

/// Free staging buffers. No other lock is taken while theirs is held.
#[derive(Default)]
pub(crate) struct StagingPool {
    free: Mutex<Vec<Arc<Staging>>>,
}

impl StagingPool {
    pub(crate) fn class(bytes: u64) -> u64 {
        if bytes <= 1 << 20 { bytes.next_power_of_two().max(256) } else { bytes.next_multiple_of(1 << 20) }
    }

    fn free(&self) -> MutexGuard<'_, Vec<Arc<Staging>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self, size: u64) -> Option<Arc<Staging>> {
        let mut free = self.free();
        let at = free.iter().position(|s| s.size == size)?;
        Some(free.swap_remove(at))
    }

    pub(crate) fn put(&self, staging: Arc<Staging>) {
        let mut free = self.free();
        free.push(staging);
        let mut bytes: u64 = free.iter().map(|s| s.size).sum();
        while bytes > KEEP_BYTES {
            bytes -= free.remove(0).size;
        }
    }
}

/// A tensor's bytes, mapped. Unmapped and kept for the next read when dropped.
pub(crate) struct Mapped {
    pub(super) pool: Arc<StagingPool>,
    pub(super) staging: Arc<Staging>,
    pub(crate) view: Option<wgpu::BufferView>,
}

impl Mapped {
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.view.as_deref()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // A view must be gone before its buffer is unmapped.
        if self.view.take().is_some() {
            self.staging.raw.unmap();
            self.pool.put(self.staging.clone());
        }
    }
}
