//! A row of the kernel table becomes a pipeline once, ahead of time or at first use.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bindings::Layouts;
use super::verdict::Verdict;
use crate::kernel::Desc;
use crate::platform::{self, Layout, Pipeline};

/// Pipelines by row, then those that read f16 by row. Shapes are uniforms, so no call ever needs another one.
pub(crate) struct Pipelines {
    table: &'static [Desc],
    slots: Vec<Slot>,
    pub(crate) created: AtomicU64,
}

#[derive(Default)]
struct Slot {
    made: OnceLock<(Pipeline, Verdict)>,
    /// What the GPU says of it, if somebody asked ahead of time.
    ahead: OnceLock<Verdict>,
}

impl Pipelines {
    pub(crate) fn new(table: &'static [Desc]) -> Self {
        let slots = table.iter().chain(table).map(|_| Slot::default()).collect();
        Self { table, slots, created: AtomicU64::new(0) }
    }

    pub(crate) fn get(&self, row: usize) -> Option<&Pipeline> {
        self.slots.get(row)?.made.get().map(|(pipeline, _)| pipeline)
    }

    /// The names of the rows that have one for f32.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.table
            .iter()
            .zip(&self.slots)
            .filter(|(_, slot)| slot.made.get().is_some())
            .map(|(row, _)| row.name)
            .collect()
    }

    /// Makes sure that the row's pipeline exists; what the GPU says of it is the answer.
    pub(crate) fn need(&self, row: usize, device: &wgpu::Device, layouts: &Layouts) -> &Verdict {
        let (_, verdict) = self.slots[row].made.get_or_init(|| {
            let (layout, desc, f16) = self.parts(row, layouts);
            let verdict = Verdict::new();
            let scopes = platform::Scopes::push(device);
            let pipeline = layout.pipeline(device, desc, f16);
            scopes.pop(&verdict);
            self.created.fetch_add(1, Ordering::Relaxed);
            (pipeline, verdict)
        });
        verdict
    }

    /// What a row's pipeline is made of, and whether it reads f16.
    pub(crate) fn parts<'a>(&self, row: usize, layouts: &'a Layouts) -> (&'a Layout, &'static Desc, bool) {
        let len = self.table.len();
        let desc = &self.table[row % len];
        (layouts.of(desc.inputs.into(), desc.outputs.into()), desc, row >= len)
    }

    /// The verdict on a row's pipeline, and whether the caller is the first to ask and so has it made.
    pub(crate) fn ahead(&self, row: usize) -> (&Verdict, bool) {
        let slot = &self.slots[row];
        if let Some((_, verdict)) = slot.made.get() {
            return (verdict, false);
        }
        let mut first = false;
        let verdict = slot.ahead.get_or_init(|| {
            first = true;
            Verdict::new()
        });
        (verdict, first)
    }

    /// Keeps a sound pipeline that was made ahead of time, unless an op did not wait for it.
    pub(crate) fn keep(&self, row: usize, pipeline: Pipeline) {
        let verdict = Verdict::new();
        verdict.settle(Ok(()));
        if self.slots[row].made.set((pipeline, verdict)).is_ok() {
            self.created.fetch_add(1, Ordering::Relaxed);
        }
    }
}
