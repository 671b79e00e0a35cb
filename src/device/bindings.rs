//! Bind group layouts, shared by all kernels of one arity, and the cache of bind groups.

use std::collections::HashMap;
use std::sync::Arc;

use super::pool::Buffer;
use super::{INPUTS_MAX, OUTPUTS_MAX, SLOT};

/// One layout for each number of inputs and of outputs: read-only inputs, outputs, then the uniform slot.
pub(crate) struct Layouts([Vec<(wgpu::BindGroupLayout, wgpu::PipelineLayout)>; OUTPUTS_MAX]);

impl Layouts {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self(std::array::from_fn(|i| (0..=INPUTS_MAX).map(|inputs| Self::layout(device, inputs, i + 1)).collect()))
    }

    fn layout(device: &wgpu::Device, inputs: usize, outputs: usize) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let buffers = inputs + outputs;
        let mut entries: Vec<_> = (0..buffers).map(|i| entry(i as u32, storage(i < inputs), false)).collect();
        entries.push(entry(buffers as u32, wgpu::BufferBindingType::Uniform, true));
        let group =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        (group, pipeline)
    }

    pub(crate) fn group(&self, inputs: usize, outputs: usize) -> &wgpu::BindGroupLayout {
        &self.0[outputs - 1][inputs].0
    }

    pub(crate) fn pipeline(&self, inputs: usize, outputs: usize) -> &wgpu::PipelineLayout {
        &self.0[outputs - 1][inputs].1
    }
}

/// The ids of the bound buffers, those of outputs behind all that inputs may take, 0 for none.
type Key = [u32; INPUTS_MAX + OUTPUTS_MAX];

/// Groups kept at most; when full the cache starts anew.
const KEEP_GROUPS: usize = 8192;

/// Bind groups by the buffers they bind. The uniform slot is chosen by dynamic offset, so parameters never need another.
#[derive(Default)]
pub(crate) struct BindGroups {
    groups: HashMap<Key, Arc<wgpu::BindGroup>>,
    /// Which keys name a buffer, so that its groups go with it.
    of_buffer: HashMap<u32, Vec<Key>>,
    pub(crate) created: u64,
}

impl BindGroups {
    pub(crate) fn get(
        &mut self,
        device: &wgpu::Device,
        layouts: &Layouts,
        ring: &wgpu::Buffer,
        inputs: &[&Buffer],
        outputs: &[&Buffer],
    ) -> Arc<wgpu::BindGroup> {
        let mut key = Key::default();
        let (of_inputs, of_outputs) = key.split_at_mut(INPUTS_MAX);
        for (slot, buffer) in of_inputs.iter_mut().zip(inputs).chain(of_outputs.iter_mut().zip(outputs)) {
            *slot = buffer.id;
        }
        if let Some(group) = self.groups.get(&key) {
            return group.clone();
        }
        if self.groups.len() >= KEEP_GROUPS {
            self.groups.clear();
            self.of_buffer.clear();
        }
        let mut entries: Vec<_> = inputs
            .iter()
            .chain(outputs)
            .zip(0..)
            .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.raw.as_entire_binding() })
            .collect();
        entries.push(wgpu::BindGroupEntry {
            binding: entries.len() as u32,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: ring,
                offset: 0,
                size: wgpu::BufferSize::new(SLOT as u64),
            }),
        });
        let group = Arc::new(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: layouts.group(inputs.len(), outputs.len()),
            entries: &entries,
        }));
        self.created += 1;
        self.groups.insert(key, group.clone());
        for id in key.into_iter().filter(|id| *id != 0) {
            self.of_buffer.entry(id).or_default().push(key);
        }
        group
    }

    /// Forgets the groups of a buffer that is about to be destroyed.
    pub(crate) fn forget(&mut self, buffer: &Buffer) {
        for key in self.of_buffer.remove(&buffer.id).unwrap_or_default() {
            self.groups.remove(&key);
        }
    }
}
