//! Pipelines, bind groups and command buffers, through wgpu.

use crate::kernel::{Arity, Recipe};

pub(crate) type Pipeline = wgpu::ComputePipeline;
pub(crate) type Group = wgpu::BindGroup;

/// How kernels of one arity are bound.
pub(crate) struct Layout {
    group: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

impl Layout {
    pub(crate) fn new(device: &wgpu::Device, arity: Arity) -> Self {
        let entry = |(binding, kind)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty: kind, has_dynamic_offset: kind == UNIFORM, min_binding_size: None },
            count: None,
        };
        let entries: Vec<_> = (0..).zip(arity.kinds([READ, WRITE, UNIFORM])).map(entry).collect();
        let group =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        Self { group, pipeline }
    }

    pub(crate) fn pipeline(&self, device: &wgpu::Device, recipe: Recipe) -> Pipeline {
        let name = recipe.name();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&name),
            source: wgpu::ShaderSource::Wgsl(recipe.source().into()),
        });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&name),
            layout: Some(&self.pipeline),
            module: &module,
            entry_point: Some(recipe.desc.entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    }

    /// Binds whole `buffers`, and the first `slot` bytes of `ring`, to be moved by an offset.
    pub(crate) fn group<'a>(
        &self,
        device: &wgpu::Device,
        buffers: impl Iterator<Item = &'a wgpu::Buffer>,
        ring: &'a wgpu::Buffer,
        slot: u64,
    ) -> Group {
        let part = wgpu::BufferBinding { buffer: ring, offset: 0, size: wgpu::BufferSize::new(slot) };
        let all = buffers.map(wgpu::Buffer::as_entire_binding).chain([wgpu::BindingResource::Buffer(part)]);
        let entries: Vec<_> =
            all.zip(0..).map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource }).collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &self.group, entries: &entries })
    }
}

const READ: wgpu::BufferBindingType = wgpu::BufferBindingType::Storage { read_only: true };
const WRITE: wgpu::BufferBindingType = wgpu::BufferBindingType::Storage { read_only: false };
const UNIFORM: wgpu::BufferBindingType = wgpu::BufferBindingType::Uniform;

/// A command buffer in the making. Dispatches between two copies share a pass.
pub(crate) struct Commands<'a> {
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: wgpu::CommandEncoder,
    offsets: &'a [u32],
}

impl<'a> Commands<'a> {
    /// `offsets` are those that dispatches may name by number.
    pub(crate) fn new(device: &wgpu::Device, offsets: &'a [u32]) -> Self {
        let encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        Self { pass: None, encoder, offsets }
    }

    /// `pipeline` is only given where it is not that of the dispatch before.
    pub(crate) fn dispatch(&mut self, pipeline: Option<&Pipeline>, group: &Group, offset: usize, (x, y): (u32, u32)) {
        let begin = || self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
        let pass = self.pass.get_or_insert_with(begin);
        if let Some(pipeline) = pipeline {
            pass.set_pipeline(pipeline);
        }
        pass.set_bind_group(0, group, &self.offsets[offset..=offset]);
        pass.dispatch_workgroups(x, y, 1);
    }

    pub(crate) fn copy(&mut self, from: &wgpu::Buffer, to: &wgpu::Buffer, bytes: u64) {
        self.pass = None;
        self.encoder.copy_buffer_to_buffer(from, 0, to, 0, Some(bytes));
    }

    pub(crate) fn submit(self, queue: &wgpu::Queue) {
        drop(self.pass);
        queue.submit([self.encoder.finish()]);
    }
}
