//! The device with its recorder, behind one lock that never spans an `await`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::batch::{BATCH_MAX, Batch, Read};
use super::bindings::{BindGroups, Layouts};
use super::counts::{Memory, Stats};
use super::pipelines::Pipelines;
use super::pool::{Buffer, Pool};
use super::staging::StagingPool;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Lost};
use crate::kernel::SLOT;
use crate::platform::{self, Adapter};
use crate::verdict::{About, Origin, Verdict};

/// Estimated operations after which a batch is submitted although small: a fraction of a second on the slowest device,
/// so that no submit meets a watchdog.
const COST_MAX_GPU: u64 = 20_000_000_000;
const COST_MAX_SOFTWARE: u64 = 500_000_000;

/// A device with its recorder.
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) software: bool,
    /// The largest buffer that can be bound whole.
    pub(super) buffer_max: u64,
    pub(super) lost: Arc<Event<Lost>>,
    pub(super) layouts: Layouts,
    pub(super) pipelines: Pipelines,
    /// The parameters of the batch that is recorded, a slot for each dispatch.
    pub(super) ring: wgpu::Buffer,
    pub(super) staging: Arc<StagingPool>,
    pub(super) staging_bytes: Arc<AtomicU64>,
    recorder: Mutex<Recorder>,
}

/// All that recording changes.
pub(super) struct Recorder {
    pub(super) batch: Batch,
    pub(super) pool: Pool,
    pub(super) groups: BindGroups,
    pub(super) stats: Stats,
}

impl Recorder {
    pub(super) fn destroy(&mut self, gone: Vec<Arc<Buffer>>) {
        for buffer in gone {
            self.groups.forget(&buffer);
            buffer.raw.destroy();
        }
    }
}

/// Whoever waits for the loss of a device that nobody holds any more is told.
impl Drop for Gpu {
    fn drop(&mut self) {
        self.lost.set(Lost { destroyed: true, message: "the context was dropped".into() });
    }
}

impl Gpu {
    pub(crate) async fn new(adapter: &Adapter) -> Result<Arc<Self>> {
        let (device, queue) = adapter.request_device().await?;
        let limits = device.limits();
        let lost = Arc::new(Event::new());
        let on_lost = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            on_lost.set(Lost { destroyed: reason == wgpu::DeviceLostReason::Destroyed, message });
        });
        // Faults come through error scopes; what is left here belongs to nobody's read. wgpu's default would panic.
        device.on_uncaptured_error(Arc::new(|error| platform::warn(&format!("tensorweft: {error}"))));
        let ring = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tensorweft parameters"),
            size: (BATCH_MAX * SLOT) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Ok(Arc::new(Self {
            layouts: Layouts::new(&device),
            pipelines: Pipelines::new(),
            ring,
            software: adapter.software(),
            // Buffers are whole vectors of four.
            buffer_max: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15,
            lost,
            staging: Arc::default(),
            staging_bytes: Arc::default(),
            recorder: Mutex::new(Recorder {
                batch: Batch::new(),
                pool: Pool::new(limits.max_buffer_size),
                groups: BindGroups::default(),
                stats: Stats { buffers_created: 1, ..Stats::default() },
            }),
            device,
            queue,
        }))
    }

    pub(super) fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loss of the device, once it is known.
    pub(crate) fn lost(&self) -> &Arc<Event<Lost>> {
        &self.lost
    }

    pub(crate) fn stats(&self) -> Stats {
        let recorder = self.recorder();
        Stats {
            bind_groups_created: recorder.groups.created,
            pipelines_created: self.pipelines.created.load(Ordering::Relaxed),
            ..recorder.stats
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        let recorder = self.recorder();
        Memory {
            tensors: recorder.pool.tensors,
            live_bytes: recorder.pool.live_bytes,
            pooled_bytes: recorder.pool.free_bytes
                + self.staging_bytes.load(Ordering::Relaxed)
                + (BATCH_MAX * SLOT) as u64,
            peak_bytes: recorder.pool.peak_bytes,
        }
    }

    /// The names of the kernels whose pipelines exist.
    pub(crate) fn compiled(&self) -> Vec<String> {
        self.pipelines.names()
    }

    pub(crate) fn alive(&self, op: &'static str) -> Result<()> {
        match self.lost.get() {
            Some(lost) => Err(Error::new(op, ErrorKind::DeviceLost(lost.message))),
            None => Ok(()),
        }
    }

    /// What a fault means: after a loss every call fails, and the loss is the cause.
    pub(super) fn fault(&self, error: Error) -> Error {
        match self.lost.get() {
            Some(lost) => Error::new(error.op(), ErrorKind::DeviceLost(lost.message)),
            None => error,
        }
    }

    pub(super) fn create(
        &self,
        recorder: &mut Recorder,
        origin: Origin,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> (wgpu::Buffer, Verdict) {
        recorder.stats.buffers_created += 1;
        let verdict = Verdict::new(About::Allocation { origin, bytes: size, live: recorder.pool.live_bytes });
        let scopes = platform::Scopes::push(&self.device);
        let raw =
            self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        scopes.pop(&verdict);
        (raw, verdict)
    }

    /// Whether the batch should be submitted without waiting for a read.
    pub(super) fn full(&self, batch: &Batch) -> bool {
        batch.full(if self.software { COST_MAX_SOFTWARE } else { COST_MAX_GPU })
    }

    /// Gives the recorded work to the queue.
    pub(crate) fn flush(&self) {
        self.submit(&mut self.recorder());
    }

    /// As `flush`, if `batch` is still being recorded.
    pub(super) fn flush_batch(&self, batch: u64) {
        let mut recorder = self.recorder();
        if recorder.batch.id == batch {
            self.submit(&mut recorder);
        }
    }

    pub(super) fn submit(&self, recorder: &mut Recorder) {
        if recorder.batch.is_empty() {
            return;
        }
        let batch = &mut recorder.batch;
        let scopes = platform::Scopes::push(&self.device);
        if batch.dispatches() > 0 {
            self.queue.write_buffer(&self.ring, 0, batch.params());
        }
        batch.submit(&self.device, &self.queue, |pipeline| self.pipelines.get(pipeline));
        for Read { staging, bytes, mapped } in batch.reads() {
            let mapped = mapped.clone();
            staging.raw.map_async(wgpu::MapMode::Read, ..*bytes, move |outcome| mapped.set(outcome.is_ok()));
        }
        let verdict = batch.verdict.clone();
        batch.restart();
        scopes.pop(&verdict);
        recorder.stats.submits += 1;
        let gone = recorder.pool.trim(recorder.batch.id);
        recorder.destroy(gone);
    }

    /// Ends the device; all that is pending fails with `device-lost`.
    pub(crate) fn destroy(&self) {
        self.device.destroy();
        self.lost.set(Lost { destroyed: true, message: "the context was destroyed".into() });
    }
}
