//! Pipelines, bind groups and command buffers, through the browser's own device: wgpu's calls cost several times as
//! much there, and it compiles no pipeline without blocking the page.

use js_sys::{Array, Promise, Uint32Array};
use wasm_bindgen::prelude::*;

use super::object::object;
use crate::kernel::{Arity, Recipe};

#[wasm_bindgen]
extern "C" {
    /// Any object of WebGPU.
    #[derive(Clone)]
    pub(crate) type Raw;

    #[wasm_bindgen(method, js_name = createBindGroupLayout)]
    fn create_bind_group_layout(this: &Raw, descriptor: &JsValue) -> Raw;
    #[wasm_bindgen(method, js_name = createPipelineLayout)]
    fn create_pipeline_layout(this: &Raw, descriptor: &JsValue) -> Raw;
    #[wasm_bindgen(method, js_name = createShaderModule)]
    fn create_shader_module(this: &Raw, descriptor: &JsValue) -> Raw;
    #[wasm_bindgen(method, js_name = createComputePipeline)]
    fn create_compute_pipeline(this: &Raw, descriptor: &JsValue) -> Raw;
    #[wasm_bindgen(method, js_name = createComputePipelineAsync)]
    fn create_compute_pipeline_async(this: &Raw, descriptor: &JsValue) -> Promise;
    #[wasm_bindgen(method, js_name = createBindGroup)]
    fn create_bind_group(this: &Raw, descriptor: &JsValue) -> Raw;
    #[wasm_bindgen(method, js_name = createCommandEncoder)]
    fn create_command_encoder(this: &Raw) -> Raw;
    #[wasm_bindgen(method, js_name = beginComputePass)]
    fn begin_compute_pass(this: &Raw) -> Raw;
    #[wasm_bindgen(method, js_name = setPipeline)]
    fn set_pipeline(this: &Raw, pipeline: &Raw);
    #[wasm_bindgen(method, js_name = setBindGroup)]
    fn set_bind_group(this: &Raw, index: u32, group: &Raw, offsets: &Uint32Array, start: u32, length: u32);
    #[wasm_bindgen(method, js_name = dispatchWorkgroups)]
    fn dispatch_workgroups(this: &Raw, x: u32, y: u32);
    #[wasm_bindgen(method)]
    fn end(this: &Raw);
    #[wasm_bindgen(method, js_name = copyBufferToBuffer)]
    fn copy_buffer_to_buffer(this: &Raw, from: &JsValue, start: u32, to: &JsValue, at: u32, bytes: f64);
    #[wasm_bindgen(method)]
    fn finish(this: &Raw) -> JsValue;
    #[wasm_bindgen(method)]
    fn submit(this: &Raw, commands: &Array);
}

/// The browser's device behind wgpu's, or its queue. There is no other backend in a browser.
pub(super) fn raw(object: Option<&impl AsRef<JsValue>>) -> Raw {
    object.map_or(JsValue::UNDEFINED, |o| o.as_ref().clone()).unchecked_into()
}

pub(super) fn device(device: &wgpu::Device) -> Raw {
    raw(device.as_webgpu())
}

pub(crate) type Pipeline = Raw;
pub(crate) type Group = Raw;

/// How kernels of one arity are bound.
pub(crate) struct Layout {
    group: Raw,
    pipeline: Raw,
}

const COMPUTE: u32 = 4;

impl Layout {
    pub(crate) fn new(of: &wgpu::Device, arity: Arity) -> Self {
        let of = device(of);
        let entry = |(binding, kind): (u32, &str)| {
            let buffer = object([("type", kind.into()), ("hasDynamicOffset", (kind == "uniform").into())]);
            object([("binding", binding.into()), ("visibility", COMPUTE.into()), ("buffer", buffer)])
        };
        let kinds = arity.kinds(["read-only-storage", "storage", "uniform"]);
        let entries: Array = (0..).zip(kinds).map(entry).collect();
        let group = of.create_bind_group_layout(&object([("entries", entries.into())]));
        let groups = Array::of1(&group);
        let pipeline = of.create_pipeline_layout(&object([("bindGroupLayouts", groups.into())]));
        Self { group, pipeline }
    }

    fn descriptor(&self, of: &Raw, recipe: Recipe) -> JsValue {
        let label = JsValue::from(recipe.name());
        let module = of.create_shader_module(&object([("label", label.clone()), ("code", recipe.source().into())]));
        let compute = object([("module", module.into()), ("entryPoint", recipe.desc.entry.into())]);
        object([("label", label), ("layout", self.pipeline.clone().into()), ("compute", compute)])
    }

    pub(crate) fn pipeline(&self, of: &wgpu::Device, recipe: Recipe) -> Pipeline {
        let of = device(of);
        of.create_compute_pipeline(&self.descriptor(&of, recipe))
    }

    /// As `pipeline`, without blocking the page: a promise of it.
    pub(super) fn pipeline_async(&self, of: &wgpu::Device, recipe: Recipe) -> Promise {
        let of = device(of);
        of.create_compute_pipeline_async(&self.descriptor(&of, recipe))
    }

    /// Binds whole `buffers`, and the first `slot` bytes of `ring`, to be moved by an offset.
    pub(crate) fn group<'a>(
        &self,
        of: &wgpu::Device,
        buffers: impl Iterator<Item = &'a wgpu::Buffer>,
        ring: &'a wgpu::Buffer,
        slot: u64,
    ) -> Group {
        let whole = |buffer: &wgpu::Buffer| object([("buffer", raw(buffer.as_webgpu()).into())]);
        let part = object([("buffer", raw(ring.as_webgpu()).into()), ("size", (slot as f64).into())]);
        let entry = |(binding, resource): (u32, _)| object([("binding", binding.into()), ("resource", resource)]);
        let entries: Array = (0..).zip(buffers.map(whole).chain([part])).map(entry).collect();
        device(of).create_bind_group(&object([("layout", self.group.clone().into()), ("entries", entries.into())]))
    }
}

/// A command buffer in the making. Dispatches between two copies share a pass.
pub(crate) struct Commands {
    encoder: Raw,
    pass: Option<Raw>,
    offsets: Uint32Array,
}

impl Commands {
    /// `offsets` are those that dispatches may name by number.
    pub(crate) fn new(of: &wgpu::Device, offsets: &[u32]) -> Self {
        Self { encoder: device(of).create_command_encoder(), pass: None, offsets: offsets.into() }
    }

    /// `pipeline` is only given where it is not that of the dispatch before.
    pub(crate) fn dispatch(&mut self, pipeline: Option<&Pipeline>, group: &Group, offset: usize, (x, y): (u32, u32)) {
        let pass = self.pass.get_or_insert_with(|| self.encoder.begin_compute_pass());
        if let Some(pipeline) = pipeline {
            pass.set_pipeline(pipeline);
        }
        pass.set_bind_group(0, group, &self.offsets, offset as u32, 1);
        pass.dispatch_workgroups(x, y);
    }

    fn end_pass(&mut self) {
        if let Some(pass) = self.pass.take() {
            pass.end();
        }
    }

    pub(crate) fn copy(&mut self, from: &wgpu::Buffer, to: &wgpu::Buffer, bytes: u64) {
        self.end_pass();
        let [from, to] = [from, to].map(|buffer| raw(buffer.as_webgpu()));
        self.encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes as f64);
    }

    pub(crate) fn submit(mut self, queue: &wgpu::Queue) {
        self.end_pass();
        raw(queue.as_webgpu()).submit(&Array::of1(&self.encoder.finish()));
    }
}
