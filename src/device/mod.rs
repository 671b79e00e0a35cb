//! One GPU device: records work, submits it in batches, reads it back. Knows buffers and kernels, not tensors or ops.

mod adapter;
mod batch;
mod bindings;
mod event;
mod pipelines;
mod pool;
mod readback;
mod verdict;

use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

pub(crate) use adapter::{Adapter, adapters};
pub(crate) use event::Event;
pub(crate) use readback::Mapped;
pub(crate) use verdict::{Lineage, Verdict};

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Desc;
use crate::platform;
use batch::{Batch, Read};
use bindings::{BindGroups, Layouts};
use pipelines::Pipelines;
use pool::{Buffer, First, Pool, risky};
use readback::{Staging, StagingPool};

/// Bytes of a dispatch's uniform parameters: WebGPU's default offset alignment.
pub(crate) const SLOT: usize = 256;
/// Inputs and outputs of a kernel at most.
pub(crate) const INPUTS_MAX: usize = 4;
pub(crate) const OUTPUTS_MAX: usize = 2;
/// Dispatches in a batch at most: enough to hide a submit, few enough that the GPU starts early.
const BATCH_MAX: usize = 64;
/// Workgroups in one dimension of a dispatch, WebGPU's limit on every adapter.
const GRID_MAX: u64 = 65_535;
/// Estimated operations after which a batch is submitted although small: a fraction of a second on the slowest device,
/// so that no submit meets a watchdog.
const COST_MAX_GPU: u64 = 20_000_000_000;
const COST_MAX_SOFTWARE: u64 = 500_000_000;

/// Why and how a device was lost.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    pub(crate) reason: wgpu::DeviceLostReason,
    pub(crate) message: String,
}

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

/// A device with its recorder.
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) software: bool,
    /// The largest buffer that can be bound whole.
    pub(crate) buffer_max: u64,
    lost: Arc<Event<Lost>>,
    layouts: Layouts,
    pipelines: Pipelines,
    ring: wgpu::Buffer,
    staging_bytes: Arc<AtomicU64>,
    recorder: Mutex<Recorder>,
}

/// All that recording changes, behind one lock that never spans an `await`.
struct Recorder {
    batch: Batch,
    pool: Pool,
    groups: BindGroups,
    staging: StagingPool,
    stats: Stats,
}

/// A buffer of the pool that belongs to a tensor, and what its content depends on.
pub(crate) struct Storage {
    pub(crate) gpu: Arc<Gpu>,
    buffer: Arc<Buffer>,
    lineage: Mutex<Lineage>,
}

/// Whoever waits for the loss of a device that nobody holds any more is told.
impl Drop for Gpu {
    fn drop(&mut self) {
        self.lost.set(Lost { reason: wgpu::DeviceLostReason::Destroyed, message: "the context was dropped".into() });
    }
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
    fn lineage(&self) -> MutexGuard<'_, Lineage> {
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

impl Recorder {
    fn destroy(&mut self, gone: Vec<Arc<Buffer>>) {
        for buffer in gone {
            self.groups.forget(&buffer);
            buffer.raw.destroy();
        }
    }
}

/// A read on its way.
pub(crate) struct Pending {
    gpu: Arc<Gpu>,
    op: &'static str,
    staging: Arc<Staging>,
    bytes: u64,
    batch: u64,
    mapped: Arc<Event<bool>>,
    lineage: Lineage,
}

impl Pending {
    /// Submits the batch of the read if nobody has, and waits for the bytes and for what the GPU says of them.
    pub(crate) async fn finish(self) -> Result<Mapped> {
        let Self { gpu, op, staging, bytes, batch, mapped, lineage } = self;
        // Reads that start together share one submit: each records its copy before the first of them goes on.
        platform::yield_once().await;
        gpu.flush_batch(batch);
        let mapped = platform::arrival(&gpu.device, &mapped, &gpu.lost).await;
        let failed = |why: String| Error::new(op, gpu.fault(ErrorKind::Internal(why)));
        // A browser leaves the error scopes of a lost device unanswered.
        let Some(outcome) = gpu.lost.or(lineage.wait(op)).await else {
            return Err(failed("the device was lost".into()));
        };
        outcome.map_err(|e| Error::new(op, gpu.fault(e.kind().clone())))?;
        if mapped != Some(true) {
            return Err(failed("the GPU refused to map the result".into()));
        }
        let view = staging.raw.get_mapped_range(..bytes).map_err(|e| failed(format!("{e:?}")))?;
        Ok(Mapped { gpu: gpu.clone(), staging, view: Some(view) })
    }
}

impl Gpu {
    pub(crate) async fn new(adapter: &Adapter, table: &'static [Desc]) -> Result<Arc<Self>> {
        let (device, queue) = adapter.request_device().await?;
        let limits = device.limits();
        let lost = Arc::new(Event::new());
        let on_lost = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            on_lost.set(Lost { reason, message });
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
            pipelines: Pipelines::new(table),
            ring,
            software: adapter.software(),
            // Buffers are whole vectors of four.
            buffer_max: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15,
            lost,
            staging_bytes: Arc::default(),
            recorder: Mutex::new(Recorder {
                batch: Batch::new(),
                pool: Pool::new(limits.max_buffer_size),
                groups: BindGroups::default(),
                staging: StagingPool::default(),
                stats: Stats { buffers_created: 1, ..Stats::default() },
            }),
            device,
            queue,
        }))
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
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

    pub(crate) fn alive(&self, op: &'static str) -> Result<()> {
        match self.lost.get() {
            Some(lost) => Err(Error::new(op, ErrorKind::DeviceLost(lost.message))),
            None => Ok(()),
        }
    }

    /// The kind of a fault that a scope caught: after a loss every call fails, and the loss is the cause.
    pub(crate) fn fault(&self, kind: ErrorKind) -> ErrorKind {
        match self.lost.get() {
            Some(lost) => ErrorKind::DeviceLost(lost.message),
            None => kind,
        }
    }

    fn create(&self, stats: &mut Stats, size: u64, usage: wgpu::BufferUsages) -> (wgpu::Buffer, Verdict) {
        stats.buffers_created += 1;
        let verdict = Verdict::new();
        let scopes = platform::Scopes::push(&self.device);
        let raw =
            self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        scopes.pop(&verdict);
        (raw, verdict)
    }

    fn take(&self, recorder: &mut Recorder, op: &'static str, bytes: u64, first: First) -> Result<Arc<Buffer>> {
        if bytes > self.buffer_max {
            let what = "bytes of one tensor";
            return Err(Error::new(op, ErrorKind::LimitExceeded { what, wanted: bytes, limit: self.buffer_max }));
        }
        let size = Pool::class(bytes, self.buffer_max);
        let batch = recorder.batch.id;
        let buffer = match recorder.pool.take(size, first, batch) {
            Some(buffer) => buffer,
            None => {
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
                let (raw, verdict) = self.create(&mut recorder.stats, size, usage);
                if let Some(kind) = verdict.failed() {
                    raw.destroy();
                    return Err(Error::new(op, self.fault(kind)));
                }
                Arc::new(Buffer::new(raw, recorder.pool.next_id(), size, verdict))
            }
        };
        recorder.pool.taken(size);
        Ok(buffer)
    }

    fn storage(self: &Arc<Self>, buffer: Arc<Buffer>) -> Storage {
        let mut lineage = Lineage::default();
        lineage.add(&buffer.allocation);
        Storage { gpu: self.clone(), buffer, lineage: Mutex::new(lineage) }
    }

    /// A buffer filled by `write`, which sees the raw queue and buffer.
    pub(crate) fn upload(
        self: &Arc<Self>,
        op: &'static str,
        bytes: u64,
        write: impl FnOnce(&wgpu::Queue, &wgpu::Buffer),
    ) -> Result<Storage> {
        self.alive(op)?;
        let buffer = self.take(&mut self.recorder(), op, bytes, First::Write)?;
        let storage = self.storage(buffer);
        let scopes = platform::Scopes::push(&self.device);
        write(&self.queue, &storage.buffer.raw);
        let written = Verdict::new();
        scopes.pop(&written);
        storage.lineage().add(&written);
        Ok(storage)
    }

    /// A buffer that a dispatch is about to fill.
    pub(crate) fn fresh(self: &Arc<Self>, op: &'static str, bytes: u64) -> Result<Storage> {
        self.alive(op)?;
        let buffer = self.take(&mut self.recorder(), op, bytes, First::Dispatch)?;
        Ok(self.storage(buffer))
    }

    /// The names of the rows whose pipelines exist.
    pub(crate) fn compiled(&self) -> Vec<&'static str> {
        self.pipelines.names()
    }

    /// Compiles rows side by side, and beside the caller. `progress` hears how many of how many are done.
    pub(crate) async fn compile(
        self: &Arc<Self>,
        op: &'static str,
        rows: &[usize],
        mut progress: impl FnMut(usize, usize),
    ) -> Result<()> {
        self.alive(op)?;
        let mut wanted = Vec::new();
        let mut open = Vec::new();
        for row in rows {
            let (verdict, first) = self.pipelines.ahead(*row);
            if first {
                wanted.push((*row, verdict.clone()));
            }
            open.push(Box::pin(verdict.wait()));
        }
        platform::compile(self, wanted);
        let (mut outcome, mut reported) = (Ok(()), 0);
        let all = poll_fn(|cx| {
            open.retain_mut(|verdict| match verdict.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(said) => {
                    outcome = outcome.clone().and(said);
                    false
                }
            });
            let done = rows.len() - open.len();
            if done > reported {
                reported = done;
                progress(done, rows.len());
            }
            if open.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        });
        self.lost.or(all).await;
        self.alive(op)?;
        outcome.map_err(|kind| Error::new(op, self.fault(kind)))
    }

    /// What a row's pipeline is made of.
    pub(crate) fn parts(&self, row: usize) -> (&platform::Layout, &'static Desc, bool) {
        self.pipelines.parts(row, &self.layouts)
    }

    /// Keeps a pipeline that was made ahead of time.
    pub(crate) fn adopt(&self, row: usize, pipeline: platform::Pipeline) {
        self.pipelines.keep(row, pipeline);
    }

    /// Records one dispatch of `groups` workgroups; `cost` is its estimated number of operations.
    #[allow(clippy::too_many_arguments, reason = "the one place through which every kernel runs")]
    pub(crate) fn dispatch(
        &self,
        op: &'static str,
        row: usize,
        params: &[u8],
        inputs: &[&Storage],
        outputs: &[&Storage],
        groups: u64,
        cost: u64,
    ) -> Result<()> {
        self.alive(op)?;
        let y = groups.div_ceil(GRID_MAX).max(1);
        let x = groups.div_ceil(y).max(1);
        if y > GRID_MAX {
            let what = "workgroups of one dispatch";
            return Err(Error::new(op, ErrorKind::LimitExceeded { what, wanted: groups, limit: GRID_MAX * GRID_MAX }));
        }
        let mut lineage = Lineage::default();
        lineage.add(self.pipelines.need(row, &self.device, &self.layouts));
        for input in inputs {
            lineage.merge(&input.lineage());
        }
        for output in outputs {
            lineage.add(&output.buffer.allocation);
        }
        if let Some(kind) = lineage.failed() {
            return Err(Error::new(op, self.fault(kind)));
        }

        let mut recorder = self.recorder();
        let bound: Vec<&Buffer> = inputs.iter().chain(outputs).map(|s| &*s.buffer).collect();
        let (read, written) = bound.split_at(inputs.len());
        // A missing buffer makes a whole batch invalid: where one may be missing, no other work shares the batch.
        let alone = bound.iter().any(|b| b.risky());
        if alone {
            self.submit(&mut recorder);
        }
        let Recorder { batch, groups: cache, .. } = &mut *recorder;
        let scopes = alone.then(|| platform::Scopes::push(&self.device));
        let group = cache.get(&self.device, &self.layouts, &self.ring, read, written);
        if let Some(scopes) = scopes {
            let bindable = Verdict::new();
            scopes.pop(&bindable);
            lineage.add(&bindable);
        }
        bound.iter().for_each(|b| b.used_in(batch.id));
        batch.dispatch(row, group, params, (x as u32, y as u32), cost);
        lineage.merge(&batch.lineage);
        recorder.stats.dispatches += 1;
        let cost_max = if self.software { COST_MAX_SOFTWARE } else { COST_MAX_GPU };
        if alone || recorder.batch.full(cost_max) {
            self.submit(&mut recorder);
        }
        drop(recorder);
        for output in outputs {
            output.lineage().merge(&lineage);
        }
        Ok(())
    }

    /// Gives the recorded work to the queue.
    pub(crate) fn flush(&self) {
        self.submit(&mut self.recorder());
    }

    /// As `flush`, if `batch` is still being recorded.
    fn flush_batch(&self, batch: u64) {
        let mut recorder = self.recorder();
        if recorder.batch.id == batch {
            self.submit(&mut recorder);
        }
    }

    fn submit(&self, recorder: &mut Recorder) {
        if recorder.batch.is_empty() {
            return;
        }
        let batch = &mut recorder.batch;
        let scopes = platform::Scopes::push(&self.device);
        if batch.dispatches() > 0 {
            self.queue.write_buffer(&self.ring, 0, batch.params());
        }
        batch.submit(&self.device, &self.queue, |row| self.pipelines.get(row));
        for Read { staging, bytes, mapped } in batch.reads() {
            let mapped = mapped.clone();
            staging.raw.map_async(wgpu::MapMode::Read, ..*bytes, move |outcome| mapped.set(outcome.is_ok()));
        }
        scopes.pop(&batch.verdict);
        batch.restart();
        recorder.stats.submits += 1;
        let gone = recorder.pool.trim(recorder.batch.id);
        recorder.destroy(gone);
    }

    /// Records a copy of the first `bytes` of a buffer, as all work recorded so far leaves them.
    pub(crate) fn start_read(self: &Arc<Self>, op: &'static str, storage: &Storage, bytes: u64) -> Result<Pending> {
        self.alive(op)?;
        let mapped = Arc::new(Event::new());
        let mut lineage = storage.lineage().clone();
        let mut recorder = self.recorder();
        let size = StagingPool::class(bytes);
        let mut alone = storage.buffer.risky();
        let staging = match recorder.staging.take(size) {
            Some(staging) => staging,
            None => {
                let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                let (raw, verdict) = self.create(&mut recorder.stats, size, usage);
                let staging = Arc::new(Staging::new(raw, size, &self.staging_bytes));
                if let Some(kind) = verdict.failed() {
                    return Err(Error::new(op, self.fault(kind)));
                }
                lineage.add(&verdict);
                alone |= risky(size, &verdict);
                staging
            }
        };
        // As for a dispatch.
        if alone {
            self.submit(&mut recorder);
        }
        let batch = &mut recorder.batch;
        storage.buffer.used_in(batch.id);
        lineage.merge(&batch.lineage);
        batch.read(storage.buffer.clone(), Read { staging: staging.clone(), bytes, mapped: mapped.clone() });
        let batch = batch.id;
        if alone {
            self.submit(&mut recorder);
        }
        drop(recorder);
        Ok(Pending { gpu: self.clone(), op, staging, bytes, batch, mapped, lineage })
    }

    /// Keeps an unmapped staging buffer for the next read.
    fn keep(&self, staging: Arc<Staging>) {
        self.recorder().staging.put(staging);
    }

    /// Ends the device; all that is pending fails with `device-lost`.
    pub(crate) fn destroy(&self) {
        self.device.destroy();
        self.lost.set(Lost { reason: wgpu::DeviceLostReason::Destroyed, message: "the context was destroyed".into() });
    }
}
