// What the card can do, by hand-written WebGPU on a device of its own: arithmetic, copying, dispatches, submits, reads, uploads.
import { measure, measureEach } from './measure.js';

const FMA_VARIANTS = [
  { chains: 8, invocations: 256 },
  { chains: 8, invocations: 128 },
  { chains: 8, invocations: 64 },
  { chains: 12, invocations: 256 },
  { chains: 16, invocations: 256 },
  { chains: 16, invocations: 128 },
];

function fmaShader({ chains, invocations }) {
  const each = (f) => Array.from({ length: chains }, (_, i) => f(i)).join('\n    ');
  return /* wgsl */ `
struct Numbers { factor: vec4f, term: vec4f, steps: u32 }
@group(0) @binding(0) var<uniform> numbers: Numbers;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@compute @workgroup_size(${invocations})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let f = numbers.factor;
  let t = numbers.term;
  let seed = vec4f(f32(id.x));
  ${each((i) => `var x${i} = seed + ${i}.0;`)}
  for (var step = 0u; step < numbers.steps; step++) {
    ${each((i) => `x${i} = fma(x${i}, f, t);`)}
  }
  let sum = ${Array.from({ length: chains }, (_, i) => `x${i}`).join(' + ')};
  // Never so, which no compiler can know.
  if (sum.x == 0.125 && sum.y == 0.375) { result[0] = sum; }
}`;
}

const COPY = /* wgsl */ `
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = (group.y * groups.x + group.x) * 256u + local;
  if (i < arrayLength(&result)) { result[i] = source[i]; }
}`;

const EMPTY = '@compute @workgroup_size(64) fn main() {}';

const ADD = /* wgsl */ `
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x)) { x[id.x] += 1.0; }
}`;

const STORAGE = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

/** A device with hand-written kernels on it. An adapter makes but one device, so each time takes another. */
async function open(findAdapter) {
  const adapter = await findAdapter();
  const limit = adapter.limits;
  const device = await adapter.requestDevice({
    requiredLimits: { maxBufferSize: limit.maxBufferSize, maxStorageBufferBindingSize: limit.maxStorageBufferBindingSize },
  });
  const pipeline = (code) => device.createComputePipelineAsync({ layout: 'auto', compute: { module: device.createShaderModule({ code }) } });
  const bind = (kernel, buffers) => device.createBindGroup({
    layout: kernel.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const buffer = (size, usage = STORAGE) => device.createBuffer({ size, usage });
  const done = () => device.queue.onSubmittedWorkDone();
  return { device, pipeline, bind, buffer, done };
}

/** `n` dispatches in passes of at most 200. */
function dispatcher({ device }, kernel, groups, [x, y = 1]) {
  return (n) => {
    for (let left = n; left > 0; left -= 200) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(kernel);
      for (let i = 0; i < Math.min(left, 200); i++) {
        const group = groups[i % groups.length];
        if (group) pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(x, y);
      }
      pass.end();
      device.queue.submit([encoder.finish()]);
    }
  };
}

async function fma(gpu, small, options) {
  const steps = small ? 16 : 1024;
  const threads = small ? 2 ** 10 : 2 ** 20;
  const numbers = gpu.buffer(48, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
  const words = new Float32Array(12).fill(0.999, 0, 4).fill(0.001, 4, 8);
  new Uint32Array(words.buffer)[8] = steps;
  gpu.device.queue.writeBuffer(numbers, 0, words);
  const out = gpu.buffer(64);
  const variants = [];
  for (const variant of FMA_VARIANTS) {
    const kernel = await gpu.pipeline(fmaShader(variant));
    const call = dispatcher(gpu, kernel, [gpu.bind(kernel, [numbers, out])], [threads / variant.invocations]);
    const { ms, spread } = await measure({ call, done: gpu.done }, options);
    variants.push({ ...variant, tflops: (threads * steps * variant.chains * 8) / ms / 1e9, spread });
  }
  numbers.destroy();
  out.destroy();
  return { tflops: Math.max(...variants.map((v) => v.tflops)), variants };
}

async function copy(gpu, small, options) {
  const most = Math.min(gpu.device.limits.maxStorageBufferBindingSize, gpu.device.limits.maxBufferSize);
  const sizes = (small ? [2 ** 16] : [2 ** 28, 2 ** 30]).filter((size) => size <= most);
  const kernel = await gpu.pipeline(COPY);
  const variants = [];
  for (const bytes of sizes) {
    const buffers = [gpu.buffer(bytes), gpu.buffer(bytes)];
    const groups = bytes / 16 / 256;
    const x = Math.min(groups, 4096);
    const call = dispatcher(gpu, kernel, [gpu.bind(kernel, buffers)], [x, groups / x]);
    const { ms, spread } = await measure({ call, done: gpu.done }, options);
    variants.push({ bytes, gbs: (2 * bytes) / ms / 1e6, spread });
    buffers.forEach((each) => each.destroy());
  }
  return { gbs: Math.max(...variants.map((v) => v.gbs)), variants };
}

/** Microseconds for each dispatch of passes of 1000. */
async function dispatches(gpu, small, options) {
  const inPass = small ? 50 : 1000;
  const [empty, add] = [await gpu.pipeline(EMPTY), await gpu.pipeline(ADD)];
  const buffers = Array.from({ length: 8 }, () => gpu.buffer(4096));
  const groups = buffers.map((each) => gpu.bind(add, [each]));
  const pass = (kernel, bound, count) => (n) => {
    for (let k = 0; k < n; k++) {
      const encoder = gpu.device.createCommandEncoder();
      const compute = encoder.beginComputePass();
      compute.setPipeline(kernel);
      for (let i = 0; i < inPass; i++) {
        if (bound.length) compute.setBindGroup(0, bound[i % bound.length]);
        compute.dispatchWorkgroups(count);
      }
      compute.end();
      gpu.device.queue.submit([encoder.finish()]);
    }
  };
  const us = async (call) => ((await measure({ call, done: gpu.done }, options)).ms * 1000) / inPass;
  const result = {
    inPass,
    emptyUs: await us(pass(empty, [], 1)),
    independentUs: await us(pass(add, groups, 16)),
    dependentUs: await us(pass(add, groups.slice(0, 1), 16)),
  };
  buffers.forEach((each) => each.destroy());
  return result;
}

async function submits(gpu, options) {
  const call = (n) => {
    for (let i = 0; i < n; i++) gpu.device.queue.submit([gpu.device.createCommandEncoder().finish()]);
  };
  const add = await gpu.pipeline(ADD);
  const x = gpu.buffer(4096);
  const group = gpu.bind(add, [x]);
  const work = (n) => {
    for (let i = 0; i < n; i++) dispatcher(gpu, add, [group], [16])(1);
  };
  const result = {
    emptyUs: (await measure({ call, done: gpu.done }, options)).ms * 1000,
    withWorkUs: (await measure({ call: work, done: gpu.done }, options)).ms * 1000,
  };
  x.destroy();
  return result;
}

/** A read as a page writes it: copy to a staging buffer, map, copy out. */
export function reader(gpu, bytes) {
  const source = gpu.buffer(bytes);
  const staging = gpu.buffer(bytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  return {
    source,
    async call() {
      const encoder = gpu.device.createCommandEncoder();
      encoder.copyBufferToBuffer(source, 0, staging, 0, bytes);
      gpu.device.queue.submit([encoder.finish()]);
      await staging.mapAsync(GPUMapMode.READ);
      const values = staging.getMappedRange().slice(0);
      staging.unmap();
      return values;
    },
    dispose: () => [source, staging].forEach((each) => each.destroy()),
  };
}

/** The hand-written page as one more library, for the rows of reads and uploads. */
async function hand(findAdapter) {
  const gpu = await open(findAdapter);
  return {
    name: 'hand',
    label: 'hand-written',
    device: gpu.device,
    done: gpu.done,
    prepare: () => ({ missing: 'only reads and uploads are written by hand' }),
    chain: () => ({ missing: 'only reads and uploads are written by hand' }),
    record: () => ({ missing: 'only reads and uploads are written by hand' }),
    readback(x) {
      const read = reader(gpu, x.byteLength);
      gpu.device.queue.writeBuffer(read.source, 0, x);
      return { call: async () => new Float32Array(await read.call()), dispose: read.dispose };
    },
    upload(x) {
      const target = gpu.buffer(x.byteLength);
      return {
        async call() {
          gpu.device.queue.writeBuffer(target, 0, x);
          await gpu.done();
        },
        async check() {
          const read = reader(gpu, x.byteLength);
          const encoder = gpu.device.createCommandEncoder();
          encoder.copyBufferToBuffer(target, 0, read.source, 0, x.byteLength);
          gpu.device.queue.submit([encoder.finish()]);
          const values = new Float32Array(await read.call());
          read.dispose();
          return values;
        },
        dispose: () => target.destroy(),
      };
    },
    close: () => gpu.device.destroy(),
  };
}
export { hand as openHand };

/** All limits; `again` repeats those that tell whether the card kept its pace. */
export async function measureLimits(findAdapter, { small, target, rounds }, again = false) {
  const gpu = await open(findAdapter);
  const options = { target, rounds };
  try {
    const pace = { fma: await fma(gpu, small, options), copy: await copy(gpu, small, options) };
    if (again) return pace;
    const reads = [];
    for (const bytes of [4, 1024]) {
      const read = reader(gpu, bytes);
      await read.call();
      reads.push(await measureEach(read, { rounds, most: small ? 20 : 100 }));
      read.dispose();
    }
    return {
      ...pace,
      dispatch: await dispatches(gpu, small, options),
      submit: await submits(gpu, options),
      read4: { us: reads[0].ms * 1000, spread: reads[0].spread },
      read1k: { us: reads[1].ms * 1000, spread: reads[1].spread },
    };
  } finally {
    gpu.device.destroy();
  }
}
