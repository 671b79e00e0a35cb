//! Buffers of tensors, and what their content depends on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::gpu::{Gpu, Recorder};
use super::pool::{Buffer, First, Pool};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::{Scopes, Target};
use crate::verdict::{About, Lineage, Origin, Verdict};

/// A buffer of the pool that belongs to a tensor, and what its content depends on.
pub(crate) struct Storage {
    gpu: Arc<Gpu>,
    pub(super) buffer: Arc<Buffer>,
    /// The shape that it was made for.
    pub(super) shape: Arc<[usize]>,
    lineage: Mutex<Lineage>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        let mut recorder = self.gpu.recorder();
        let batch = recorder.batch.id;
        let gone = recorder.pool.put(self.buffer.clone(), batch);
        recorder.destroy(gone);
    }
}

impl Storage {
    fn new(gpu: &Arc<Gpu>, buffer: Arc<Buffer>, shape: Arc<[usize]>) -> Self {
        let mut lineage = Lineage::default();
        lineage.add(&buffer.allocation);
        Self { gpu: gpu.clone(), buffer, shape, lineage: Mutex::new(lineage) }
    }

    pub(super) fn lineage(&self) -> MutexGuard<'_, Lineage> {
        self.lineage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.buffer.size
    }

    /// Whether the GPU is known to have failed at what the buffer should hold.
    pub(crate) fn failed(&self) -> bool {
        self.lineage().failed().is_some()
    }

    /// Whether two handles name one buffer.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.buffer.id == other.buffer.id
    }
}

impl Gpu {
    fn take(&self, recorder: &mut Recorder, origin: &Origin, bytes: u64, first: First) -> Result<Arc<Buffer>> {
        if bytes > self.buffer_max {
            let what = format!("bytes of one tensor of shape {:?}", origin.shape);
            return Err(Error::new(
                origin.op,
                ErrorKind::LimitExceeded { what, wanted: bytes, limit: self.buffer_max },
            ));
        }
        let size = Pool::class(bytes, self.buffer_max);
        let batch = recorder.batch.id;
        let buffer = match recorder.pool.take(size, first, batch) {
            Some(buffer) => buffer,
            None => {
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
                let (raw, verdict) = self.create(recorder, origin.clone(), size, usage);
                if let Some(error) = verdict.failed() {
                    raw.destroy();
                    return Err(self.fault(error));
                }
                Arc::new(Buffer::new(raw, recorder.pool.next_id(), size, verdict))
            }
        };
        recorder.pool.taken(size);
        Ok(buffer)
    }

    /// A buffer that `write` fills at once.
    pub(crate) fn upload(
        self: &Arc<Self>,
        origin: Origin,
        bytes: u64,
        write: impl FnOnce(Target<'_>),
    ) -> Result<Storage> {
        self.alive(origin.op)?;
        let buffer = self.take(&mut self.recorder(), &origin, bytes, First::Write)?;
        let storage = Storage::new(self, buffer, origin.shape.clone());
        let written = Verdict::new(About::Op(origin));
        let scopes = Scopes::push(&self.device);
        write(Target { queue: &self.queue, buffer: &storage.buffer.raw });
        scopes.pop(&written);
        storage.lineage().add(&written);
        Ok(storage)
    }

    /// A buffer that a dispatch is about to fill.
    pub(crate) fn fresh(self: &Arc<Self>, origin: Origin, bytes: u64) -> Result<Storage> {
        self.alive(origin.op)?;
        let buffer = self.take(&mut self.recorder(), &origin, bytes, First::Dispatch)?;
        Ok(Storage::new(self, buffer, origin.shape))
    }
}
