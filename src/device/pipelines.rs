//! A row of the kernel table becomes a pipeline once, at first use.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bindings::Layouts;
use super::verdict::Verdict;
use crate::kernel::Desc;
use crate::platform;

/// Pipelines by row, then those that read f16 by row. Shapes are uniforms, so no call ever needs another one.
pub(crate) struct Pipelines {
    table: &'static [Desc],
    slots: Vec<OnceLock<(wgpu::ComputePipeline, Verdict)>>,
    pub(crate) created: AtomicU64,
}

impl Pipelines {
    pub(crate) fn new(table: &'static [Desc]) -> Self {
        Self { table, slots: table.iter().chain(table).map(|_| OnceLock::new()).collect(), created: AtomicU64::new(0) }
    }

    pub(crate) fn get(&self, row: usize) -> Option<&wgpu::ComputePipeline> {
        self.slots.get(row).and_then(OnceLock::get).map(|(pipeline, _)| pipeline)
    }

    /// Makes sure that the row's pipeline exists; what the GPU says of it is the answer.
    pub(crate) fn need(&self, row: usize, device: &wgpu::Device, layouts: &Layouts) -> &Verdict {
        let (_, verdict) = self.slots[row].get_or_init(|| {
            let len = self.table.len();
            let desc = &self.table[row % len];
            let verdict = Verdict::new();
            let scopes = platform::Scopes::push(device);
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(desc.name),
                source: wgpu::ShaderSource::Wgsl(desc.source(row >= len).into()),
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(desc.name),
                layout: Some(layouts.pipeline(usize::from(desc.inputs))),
                module: &module,
                entry_point: Some(desc.entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            scopes.pop(&verdict);
            self.created.fetch_add(1, Ordering::Relaxed);
            (pipeline, verdict)
        });
        verdict
    }
}
