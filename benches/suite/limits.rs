//! What the card can do, by plain wgpu on a device of its own: arithmetic, copying, small dispatches, reads, uploads.

use pollster::block_on;
use serde_json::{Value, json};
use wgpu::BufferUsages as Usage;

use super::{Pace, Run, guarded, measure};

struct Card {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// Calls of one kernel, in passes of at most 200 dispatches.
struct Dispatches<'a> {
    card: &'a Card,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<wgpu::BindGroup>,
    grid: [u32; 2],
    /// Dispatches that make a call.
    each: usize,
}

impl Run for Dispatches<'_> {
    fn call(&mut self, n: usize) {
        let total = n * self.each;
        for begun in (0..total).step_by(200.max(self.each)) {
            let mut encoder = self.card.device.create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            for i in begun..total.min(begun + 200.max(self.each)) {
                if !self.groups.is_empty() {
                    pass.set_bind_group(0, &self.groups[i % self.groups.len()], &[]);
                }
                pass.dispatch_workgroups(self.grid[0], self.grid[1], 1);
            }
            drop(pass);
            self.card.queue.submit([encoder.finish()]);
        }
    }

    fn done(&mut self) {
        self.card.wait();
    }

    fn rows(&mut self, _: &[usize], _: usize) -> Vec<f32> {
        Vec::new()
    }
}

/// A read as a program writes it by hand: copy to a staging buffer, map, copy out.
struct Reads<'a> {
    card: &'a Card,
    source: wgpu::Buffer,
    staging: wgpu::Buffer,
}

impl Run for Reads<'_> {
    fn call(&mut self, n: usize) {
        for _ in 0..n {
            let mut encoder = self.card.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&self.source, 0, &self.staging, 0, self.source.size());
            self.card.queue.submit([encoder.finish()]);
            self.staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
            self.card.wait();
            std::hint::black_box(self.staging.get_mapped_range(..).unwrap().to_vec());
            self.staging.unmap();
        }
    }

    fn done(&mut self) {}

    fn rows(&mut self, _: &[usize], _: usize) -> Vec<f32> {
        Vec::new()
    }
}

struct Uploads<'a> {
    card: &'a Card,
    target: wgpu::Buffer,
    bytes: Vec<u8>,
}

impl Run for Uploads<'_> {
    fn call(&mut self, n: usize) {
        for _ in 0..n {
            self.card.queue.write_buffer(&self.target, 0, &self.bytes);
            self.card.queue.submit([]);
            self.card.wait();
        }
    }

    fn done(&mut self) {}

    fn rows(&mut self, _: &[usize], _: usize) -> Vec<f32> {
        Vec::new()
    }
}

const COPY: &str = "
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = (group.y * groups.x + group.x) * 256u + local;
  if (i < arrayLength(&result)) { result[i] = source[i]; }
}";

const ADD: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x)) { x[id.x] += 1.0; }
}";

fn fma_shader(chains: u32, invocations: u32) -> String {
    let each = |f: &dyn Fn(u32) -> String, between: &str| (0..chains).map(f).collect::<Vec<_>>().join(between);
    format!(
        "struct Numbers {{ factor: vec4f, term: vec4f, steps: u32 }}
@group(0) @binding(0) var<uniform> numbers: Numbers;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@compute @workgroup_size({invocations})
fn main(@builtin(global_invocation_id) id: vec3u) {{
  let f = numbers.factor;
  let t = numbers.term;
  let seed = vec4f(f32(id.x));
  {}
  for (var step = 0u; step < numbers.steps; step++) {{ {} }}
  let sum = {};
  // Never so, which no compiler can know.
  if (sum.x == 0.125 && sum.y == 0.375) {{ result[0] = sum; }}
}}",
        each(&|i| format!("var x{i} = seed + {i}.0;"), " "),
        each(&|i| format!("x{i} = fma(x{i}, f, t);"), " "),
        each(&|i| format!("x{i}"), " + "),
    )
}

impl Card {
    fn open(name: &str) -> Result<Self, String> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        let found = adapters.into_iter().find(|adapter| adapter.get_info().name == name);
        let adapter = found.ok_or_else(|| format!("no adapter is called {name}"))?;
        let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
        let (device, queue) = block_on(adapter.request_device(&descriptor)).map_err(|e| e.to_string())?;
        Ok(Self { device, queue })
    }

    fn wait(&self) {
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }

    fn buffer(&self, size: u64, usage: Usage) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    }

    fn storage(&self, size: u64) -> wgpu::Buffer {
        self.buffer(size, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST)
    }

    /// Dispatches of a kernel; each set of buffers is a bind group, used in turn.
    fn dispatches(&self, code: &str, sets: &[&[&wgpu::Buffer]], grid: [u32; 2], each: usize) -> Dispatches<'_> {
        let source = wgpu::ShaderSource::Wgsl(code.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let group = |buffers: &&[&wgpu::Buffer]| {
            let entries = buffers.iter().zip(0..);
            let entries = entries.map(|(b, binding)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() });
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries.collect::<Vec<_>>(),
            })
        };
        let groups = sets.iter().map(group).collect();
        Dispatches { card: self, pipeline, groups, grid, each }
    }

    fn reads(&self, bytes: u64) -> Reads<'_> {
        Reads {
            card: self,
            source: self.storage(bytes),
            staging: self.buffer(bytes, Usage::MAP_READ | Usage::COPY_DST),
        }
    }

    fn fma(&self, small: bool, pace: Pace) -> Value {
        let (steps, threads) = if small { (16u32, 1u32 << 10) } else { (1024, 1 << 20) };
        let numbers = self.buffer(48, Usage::UNIFORM | Usage::COPY_DST);
        let words: Vec<u8> = [[0.999f32; 4], [0.001; 4], [f32::from_bits(steps), 0.0, 0.0, 0.0]]
            .iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        self.queue.write_buffer(&numbers, 0, &words);
        let out = self.storage(64);
        let variants = [(8, 256), (8, 128), (8, 64), (12, 256), (16, 256), (16, 128)].map(|(chains, invocations)| {
            let code = fma_shader(chains, invocations);
            let mut run = self.dispatches(&code, &[&[&numbers, &out]], [threads / invocations, 1], 1);
            let told = measure(&mut run, pace);
            let flops = f64::from(threads) * f64::from(steps) * f64::from(chains) * 8.0;
            json!({ "chains": chains, "invocations": invocations, "tflops": flops / told.ms / 1e9, "spread": told.spread })
        });
        json!({ "tflops": best(&variants, "tflops"), "variants": variants })
    }

    fn copy(&self, small: bool, pace: Pace) -> Value {
        let limits = self.device.limits();
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let sizes: &[u64] = if small { &[1 << 16] } else { &[1 << 28, 1 << 30] };
        let fitting = sizes.iter().filter(|bytes| **bytes <= most);
        let variants: Vec<Value> = fitting
            .map(|&bytes| {
                let (source, target) = (self.storage(bytes), self.storage(bytes));
                let groups = (bytes / 16 / 256) as u32;
                let x = groups.min(4096);
                let told = measure(&mut self.dispatches(COPY, &[&[&source, &target]], [x, groups / x], 1), pace);
                json!({ "bytes": bytes, "gbs": 2.0 * bytes as f64 / told.ms / 1e6, "spread": told.spread })
            })
            .collect();
        json!({ "gbs": best(&variants, "gbs"), "variants": variants })
    }

    fn dispatch_times(&self, small: bool, pace: Pace) -> Value {
        let each = if small { 50 } else { 1000 };
        let buffers: Vec<_> = (0..8).map(|_| self.storage(4096)).collect();
        let all: Vec<_> = buffers.iter().collect();
        let sets: Vec<&[&wgpu::Buffer]> = all.iter().map(std::slice::from_ref).collect();
        let us = |mut run: Dispatches<'_>| measure(&mut run, pace).ms * 1000.0 / each as f64;
        json!({
            "inPass": each,
            "emptyUs": us(self.dispatches("@compute @workgroup_size(64) fn main() {}", &[], [1, 1], each)),
            "independentUs": us(self.dispatches(ADD, &sets, [16, 1], each)),
            "dependentUs": us(self.dispatches(ADD, &sets[..1], [16, 1], each)),
        })
    }
}

fn best(variants: &[Value], key: &str) -> f64 {
    variants.iter().filter_map(|v| v[key].as_f64()).fold(f64::NAN, f64::max)
}

/// All limits of the adapter of that name.
pub(crate) fn measure_all(name: &str, small: bool, pace: Pace) -> Result<Value, String> {
    let card = Card::open(name)?;
    let us = |bytes| measure(&mut card.reads(bytes), pace);
    let bytes = if small { 1 << 14 } else { 1 << 26 };
    let mut upload = Uploads { card: &card, target: card.storage(bytes), bytes: vec![1; bytes as usize] };
    let [read4, read1k] = [us(4), us(1024)];
    let (read, upload) = (us(bytes), measure(&mut upload, pace));
    Ok(json!({
        "fma": card.fma(small, pace),
        "copy": card.copy(small, pace),
        "dispatch": card.dispatch_times(small, pace),
        "read4": { "us": read4.ms * 1000.0, "spread": read4.spread },
        "read1k": { "us": read1k.ms * 1000.0, "spread": read1k.spread },
        "readback": { "bytes": bytes, "ms": read.ms, "spread": read.spread },
        "upload": { "bytes": bytes, "ms": upload.ms, "spread": upload.spread },
    }))
}

/// Those that tell whether the card kept its pace.
pub(crate) fn pace_again(name: &str, small: bool, pace: Pace) -> Result<Value, String> {
    let card = Card::open(name)?;
    guarded(|| json!({ "fma": card.fma(small, pace), "copy": card.copy(small, pace) }))
}
