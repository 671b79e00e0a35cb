//! Recorded work as plain data, encoded into one command buffer when a read or a cap asks for it.

use std::sync::Arc;

use super::pool::Buffer;
use super::staging::Staging;
use crate::event::Event;
use crate::kernel::SLOT;
use crate::platform::{Commands, Group, Pipeline};
use crate::verdict::{Lineage, Origin, Verdict};

/// Dispatches in a batch at most: enough to hide a submit, few enough that the GPU starts early.
pub(crate) const BATCH_MAX: usize = 64;

/// One step of a batch, in order.
enum Command {
    Dispatch { pipeline: usize, group: Arc<Group>, grid: (u32, u32) },
    Copy { from: Arc<Buffer>, to: Arc<Staging>, bytes: u64 },
}

/// A read that waits for the batch: its staging buffer is mapped after the submit.
pub(crate) struct Read {
    pub(crate) staging: Arc<Staging>,
    pub(crate) bytes: u64,
    pub(crate) mapped: Arc<Event<bool>>,
}

/// Work that is recorded and not yet submitted.
pub(crate) struct Batch {
    /// Number of the batch, from 1 on. A buffer remembers the last batch that used it, 0 for none.
    pub(crate) id: u64,
    pub(crate) verdict: Verdict,
    /// The lineage of a result that depends on this batch alone.
    pub(crate) lineage: Lineage,
    commands: Vec<Command>,
    params: Vec<u8>,
    reads: Vec<Read>,
    /// Who recorded what, for the message of a fault.
    origins: Vec<Origin>,
    dispatches: usize,
    cost: u64,
}

impl Batch {
    pub(crate) fn new() -> Self {
        let verdict = Verdict::of_batch();
        Self {
            id: 1,
            lineage: Lineage::of(&verdict),
            verdict,
            commands: Vec::with_capacity(BATCH_MAX),
            params: Vec::with_capacity(BATCH_MAX * SLOT),
            reads: Vec::new(),
            origins: Vec::new(),
            dispatches: 0,
            cost: 0,
        }
    }

    /// Starts the next batch in the memory of this one, once its verdict is on its way.
    pub(crate) fn restart(&mut self) {
        self.id += 1;
        self.verdict.recorded(std::mem::take(&mut self.origins));
        self.verdict = Verdict::of_batch();
        self.lineage = Lineage::of(&self.verdict);
        self.commands.clear();
        self.params.clear();
        self.reads.clear();
        self.dispatches = 0;
        self.cost = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Whether the batch should be submitted without waiting for a read.
    pub(crate) fn full(&self, cost_max: u64) -> bool {
        self.dispatches == BATCH_MAX || self.cost >= cost_max
    }

    pub(crate) fn dispatch(
        &mut self,
        origin: Origin,
        pipeline: usize,
        group: Arc<Group>,
        params: &[u8],
        grid: (u32, u32),
        cost: u64,
    ) {
        self.params.extend_from_slice(params);
        self.dispatches += 1;
        self.params.resize(self.dispatches * SLOT, 0);
        self.commands.push(Command::Dispatch { pipeline, group, grid });
        self.origins.push(origin);
        self.cost = self.cost.saturating_add(cost);
    }

    pub(crate) fn read(&mut self, origin: Origin, from: Arc<Buffer>, read: Read) {
        self.origins.push(origin);
        self.commands.push(Command::Copy { from, to: read.staging.clone(), bytes: read.bytes });
        self.reads.push(read);
    }

    pub(crate) fn dispatches(&self) -> usize {
        self.dispatches
    }

    pub(crate) fn params(&self) -> &[u8] {
        &self.params
    }

    pub(crate) fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// Submits all of it as one command buffer. WebGPU orders dispatches that share a buffer.
    pub(crate) fn submit<'a>(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        made: impl Fn(usize) -> Option<&'a Pipeline>,
    ) {
        let mut out = Commands::new(device, &OFFSETS);
        let mut slots = 0..;
        let mut current = None;
        for command in &self.commands {
            match command {
                Command::Dispatch { pipeline, group, grid } => {
                    let changed = if current.replace(*pipeline) == Some(*pipeline) { None } else { made(*pipeline) };
                    let slot = slots.next().unwrap_or(0);
                    out.dispatch(changed, group, slot, *grid);
                }
                Command::Copy { from, to, bytes } => {
                    current = None;
                    out.copy(&from.raw, &to.raw, *bytes);
                }
            }
        }
        out.submit(queue);
    }
}

/// Where the parameters of each dispatch of a batch lie.
static OFFSETS: [u32; BATCH_MAX] = {
    let mut offsets = [0; BATCH_MAX];
    let mut i = 0;
    while i < BATCH_MAX {
        offsets[i] = (i * SLOT) as u32;
        i += 1;
    }
    offsets
};
