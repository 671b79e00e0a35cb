//! Bind group layouts, shared by all kernels of one arity, and the cache of bind groups.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::pool::Buffer;
use crate::kernel::{Arity, INPUTS_MAX, OUTPUTS_MAX, SLOT};
use crate::platform::{Group, Layout};

/// One layout for each number of inputs and of outputs: read-only inputs, outputs, then the uniform slot.
pub(crate) struct Layouts([Vec<Arc<Layout>>; OUTPUTS_MAX]);

impl Layouts {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let layout = |inputs, outputs| Arc::new(Layout::new(device, Arity { inputs, outputs }));
        Self(std::array::from_fn(|i| (0..=INPUTS_MAX).map(|inputs| layout(inputs, i + 1)).collect()))
    }

    pub(crate) fn of(&self, arity: Arity) -> &Arc<Layout> {
        &self.0[arity.outputs - 1][arity.inputs]
    }
}

/// The ids of the bound buffers, those of outputs behind all that inputs may take, 0 for none.
type Key = [u32; INPUTS_MAX + OUTPUTS_MAX];

/// Mixes numbers that nobody chooses to collide, in a fraction of the standard hasher's time.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(4) {
            let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Groups kept at most; when full the cache starts anew.
const KEEP_GROUPS: usize = 8192;

/// Bind groups by the buffers they bind. The uniform slot is chosen by dynamic offset, so parameters never need another.
#[derive(Default)]
pub(crate) struct BindGroups {
    groups: Map<Key, Arc<Group>>,
    /// Which keys name a buffer, so that its groups go with it.
    of_buffer: Map<u32, Vec<Key>>,
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
    ) -> Arc<Group> {
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
        let buffers = inputs.iter().chain(outputs).map(|buffer| &buffer.raw);
        let layout = layouts.of(Arity { inputs: inputs.len(), outputs: outputs.len() });
        let group = Arc::new(layout.group(device, buffers, ring, SLOT as u64));
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
