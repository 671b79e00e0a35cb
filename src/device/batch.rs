//! Recorded work as plain data, encoded into one command buffer when a read or a cap asks for it.

use std::sync::Arc;

use super::event::Event;
use super::pool::Buffer;
use super::readback::Staging;
use super::verdict::Verdict;
use super::{BATCH_MAX, SLOT};

/// One step of a batch, in order.
enum Command {
    Dispatch { row: usize, group: Arc<wgpu::BindGroup>, slot: u32, grid: (u32, u32) },
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
    /// Counts from 1; a buffer that no batch used says 0.
    pub(crate) id: u64,
    pub(crate) verdict: Verdict,
    commands: Vec<Command>,
    params: Vec<u8>,
    reads: Vec<Read>,
    dispatches: usize,
    cost: u64,
}

impl Batch {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            verdict: Verdict::new(),
            commands: Vec::with_capacity(BATCH_MAX),
            params: Vec::with_capacity(BATCH_MAX * SLOT),
            reads: Vec::new(),
            dispatches: 0,
            cost: 0,
        }
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
        row: usize,
        group: Arc<wgpu::BindGroup>,
        params: &[u8],
        grid: (u32, u32),
        cost: u64,
    ) {
        let slot = self.params.len();
        self.params.extend_from_slice(params);
        self.params.resize(slot + SLOT, 0);
        self.commands.push(Command::Dispatch { row, group, slot: slot as u32, grid });
        self.dispatches += 1;
        self.cost = self.cost.saturating_add(cost);
    }

    pub(crate) fn read(&mut self, from: Arc<Buffer>, read: Read) {
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

    /// One command buffer; dispatches between two copies share a pass. WebGPU orders dispatches that share a buffer.
    pub(crate) fn encode<'a>(
        &self,
        device: &wgpu::Device,
        pipeline: impl Fn(usize) -> Option<&'a wgpu::ComputePipeline>,
    ) -> wgpu::CommandBuffer {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
        let mut commands = self.commands.iter().peekable();
        while commands.peek().is_some() {
            if matches!(commands.peek(), Some(Command::Dispatch { .. })) {
                let mut pass =
                    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes: None });
                let mut current = None;
                while let Some(Command::Dispatch { row, group, slot, grid }) =
                    commands.next_if(|c| matches!(c, Command::Dispatch { .. }))
                {
                    if current != Some(*row) {
                        current = Some(*row);
                        if let Some(pipeline) = pipeline(*row) {
                            pass.set_pipeline(pipeline);
                        }
                    }
                    pass.set_bind_group(0, &**group, &[*slot]);
                    pass.dispatch_workgroups(grid.0, grid.1, 1);
                }
            }
            while let Some(Command::Copy { from, to, bytes }) = commands.next_if(|c| matches!(c, Command::Copy { .. }))
            {
                encoder.copy_buffer_to_buffer(&from.raw, 0, &to.raw, 0, Some(*bytes));
            }
        }
        encoder.finish()
    }
}
