//! A tensor's bytes on their way to the host.

use std::sync::Arc;

use super::batch::Read;
use super::gpu::Gpu;
use super::pool::risky;
use super::staging::{Mapped, Staging, StagingPool};
use super::storage::Storage;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, yield_once};
use crate::platform;
use crate::verdict::{Lineage, Origin};

/// A read on its way.
pub(crate) struct Pending {
    gpu: Arc<Gpu>,
    origin: Origin,
    staging: Arc<Staging>,
    bytes: u64,
    batch: u64,
    mapped: Arc<Event<bool>>,
    lineage: Lineage,
}

impl Pending {
    /// Submits the batch of the read if nobody has, and waits for the bytes and for what the GPU says of them.
    pub(crate) async fn finish(self) -> Result<Mapped> {
        let Self { gpu, origin: Origin { op, shape }, staging, bytes, batch, mapped, lineage } = self;
        // Reads that start together share one submit: each records its copy before the first of them goes on.
        yield_once().await;
        gpu.flush_batch(batch);
        let mapped = platform::arrival(&gpu.device, &mapped, &gpu.lost).await;
        let failed = |why: &str| gpu.fault(Error::new(op, ErrorKind::Internal(format!("{shape:?}: {why}"))));
        // A browser leaves the error scopes of a lost device unanswered.
        let Some(outcome) = gpu.lost.or(lineage.wait()).await else {
            return Err(failed("the device was lost"));
        };
        // What a loss fails, the read names: no op is to blame.
        outcome.map_err(|error| match gpu.lost.get() {
            Some(_) => failed("the device was lost"),
            None => error,
        })?;
        if mapped != Some(true) {
            return Err(failed("the GPU refused to map the result"));
        }
        let view = staging.raw.get_mapped_range(..bytes).map_err(|e| failed(&format!("{e:?}")))?;
        Ok(Mapped { pool: gpu.staging.clone(), staging, view: Some(view) })
    }
}

impl Gpu {
    /// Records a copy of the first `bytes` of a buffer, as all work recorded so far leaves them.
    pub(crate) fn start_read(self: &Arc<Self>, origin: Origin, storage: &Storage, bytes: u64) -> Result<Pending> {
        self.alive(origin.op)?;
        let mapped = Arc::new(Event::new());
        let mut lineage = storage.lineage().clone();
        let mut recorder = self.recorder();
        let size = StagingPool::class(bytes);
        let mut alone = storage.buffer.risky();
        let staging = match self.staging.take(size) {
            Some(staging) => staging,
            None => {
                let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                let (raw, verdict) = self.create(&mut recorder, origin.clone(), size, usage);
                let staging = Arc::new(Staging::new(raw, size, &self.staging_bytes));
                if let Some(error) = verdict.failed() {
                    return Err(self.fault(error));
                }
                lineage.add(&verdict);
                alone |= risky(size, &verdict);
                staging
            }
        };
        // A missing buffer makes a whole batch invalid, as for a dispatch.
        if alone {
            self.submit(&mut recorder);
        }
        let batch = &mut recorder.batch;
        storage.buffer.used_in(batch.id);
        lineage.merge(&batch.lineage);
        let read = Read { staging: staging.clone(), bytes, mapped: mapped.clone() };
        batch.read(origin.clone(), storage.buffer.clone(), read);
        let batch = batch.id;
        if alone {
            self.submit(&mut recorder);
        }
        drop(recorder);
        Ok(Pending { gpu: self.clone(), origin, staging, bytes, batch, mapped, lineage })
    }
}
