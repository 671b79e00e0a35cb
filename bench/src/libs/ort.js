// ONNX Runtime Web, its C++ WebGPU provider: graphs of up to 20 nodes over GPU buffers, captured and not; the faster counts.
import * as ort from 'onnxruntime-web/webgpu';
import { devices, readRows, write } from '../gpu.js';
import { BASE, EPS } from '../ops.js';
import { model } from './onnx.js';

const NODES_MAX = 20;
const MICROSOFT = 'com.microsoft';

/** Forms of an op: one node that does it, each. */
const plain = (op, more) => ({ op, ...more });
const FORMS = {
  mm: [plain('MatMul')],
  mmBt: [plain('Gemm', { attributes: { transB: 1 } }), plain('MatMul', { note: 'MatMul, b transposed beforehand', transposed: true })],
  softmax: [plain('Softmax', { attributes: { axis: -1 } })],
  layernorm: [plain('LayerNormalization', { attributes: { axis: -1, epsilon: { float: EPS } } })],
  rmsnorm: [plain('SimplifiedLayerNormalization', { attributes: { axis: -1, epsilon: { float: EPS } } })],
  rope: [plain('RotaryEmbedding', { domain: MICROSOFT })],
  add: [plain('Add')],
  addBias: [plain('Add')],
  silu: [plain('QuickGelu', { domain: MICROSOFT, attributes: { alpha: { float: 1 } } })],
  gelu: [plain('Gelu', { domain: MICROSOFT })],
  gather0: [plain('Gather', { attributes: { axis: 0 } })],
  transpose2d: [plain('Transpose', { attributes: { perm: [1, 0] } })],
  causal: [plain('GroupQueryAttention', { domain: MICROSOFT })],
  decode: [
    plain('GroupQueryAttention', { domain: MICROSOFT, note: 'past copied to present' }),
    plain('GroupQueryAttention', { domain: MICROSOFT, note: 'past and present in one buffer', shared: true }),
  ],
};

/** What the nodes of a row take, in ONNX's terms: named inputs with data, constants, and outputs beside the result. */
function wiring({ op, dims }, task, form) {
  const named = task.inputs.map(({ data, shape, ids }, i) => ({ name: `in${i}`, data: ids ? Int32Array.from(data) : data, dims: shape, type: ids ? 'int32' : 'float32' }));
  const wired = { inputs: named, constants: [], extra: [], out: task.out, attributes: form.attributes ?? {}, order: named.map(({ name }) => name) };
  if (form.transposed) {
    const [n, k] = named[1].dims;
    named[1] = { ...named[1], data: transpose(named[1].data, n, k), dims: [k, n] };
  }
  if (op === 'rope') {
    const [t, heads, dh] = dims;
    const angles = (f) => Float32Array.from({ length: (t * dh) / 2 }, (_, i) => f(Math.floor(i / (dh / 2)) * BASE ** ((-2 * (i % (dh / 2))) / dh)));
    named[0].dims = [1, t, heads * dh];
    named.push({ name: 'cos', data: angles(Math.cos), dims: [t, dh / 2], type: 'float32' });
    named.push({ name: 'sin', data: angles(Math.sin), dims: [t, dh / 2], type: 'float32' });
    Object.assign(wired, {
      out: [1, t, heads * dh],
      constants: [{ name: 'position', type: 'int64', dims: [1], values: [0] }],
      attributes: { num_heads: heads, rotary_embedding_dim: 0, interleaved: 0 },
      order: ['in0', 'position', 'cos', 'sin'],
    });
  }
  if (op === 'causal' || op === 'decode') {
    const [t, heads, kvHeads, dh] = dims;
    const decode = op === 'decode';
    const queries = decode ? 1 : t;
    wired.out = [1, queries, heads * dh];
    wired.attributes = { num_heads: heads, kv_num_heads: kvHeads };
    wired.constants = [
      { name: 'seqlens', type: 'int32', dims: [1], values: [t - 1] },
      { name: 'total', type: 'int32', dims: [1], values: [t] },
    ];
    const [q, k, v] = named;
    q.dims = wired.out;
    const cache = [1, kvHeads, t, dh];
    const pasts = [];
    for (const each of [k, v]) {
      if (decode) {
        // The last key is the new one; those before it lie head by head.
        const room = form.shared ? t : t - 1;
        pasts.push({ name: `past_${each.name}`, data: byHead(each.data, t - 1, kvHeads, dh, room), dims: [1, kvHeads, room, dh], type: 'float32' });
        each.data = each.data.slice((t - 1) * kvHeads * dh);
      }
      each.dims = [1, queries, kvHeads * dh];
    }
    wired.inputs = [...named, ...pasts];
    wired.order = ['in0', 'in1', 'in2', pasts[0]?.name ?? '', pasts[1]?.name ?? '', 'seqlens', 'total'];
    wired.extra = [0, 1].map((i) => ({ name: `present_${i}`, dims: cache, same: form.shared ? pasts[i].name : undefined }));
  }
  return wired;
}

function transpose(data, rows, columns) {
  const out = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = data[i * columns + j];
  return out;
}

/** [length, heads · dh] as [heads, room, dh]. */
function byHead(data, length, heads, dh, room) {
  const out = new Float32Array(heads * room * dh);
  for (let s = 0; s < length; s++) {
    for (let h = 0; h < heads; h++) out.set(data.subarray((s * heads + h) * dh, (s * heads + h + 1) * dh), (h * room + s) * dh);
  }
  return out;
}

/** `n` nodes that add, each to the result before it. */
const additions = (n, step) => Array.from({ length: n }, (_, i) => ({ op: 'Add', inputs: [i ? `y${i - 1}` : 'x', step], outputs: [`y${i}`] }));

export async function open({ small }) {
  ort.env.wasm.numThreads = 1; // more would change nothing on the GPU
  ort.env.logLevel = 'error';
  const made = devices.length;
  const options = { executionProviders: ['webgpu'], preferredOutputLocation: 'gpu-buffer', logSeverityLevel: 3 };
  const float = (name, dims) => ({ name, dims, type: 'float32' });
  const create = (graph, more) => ort.InferenceSession.create(model(graph), { ...options, ...more });
  const identity = (type) => create({
    nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dims: ['n'], type }],
    outputs: [{ name: 'y', dims: ['n'], type }],
  });
  // Held until the end: with its last session the runtime gives up its device.
  const copiers = { float32: await identity('float32'), int32: await identity('int32') };
  const device = await ort.env.webgpu.device;
  const { adapter } = devices.find((entry) => entry.device === device) ?? devices[made];
  const done = () => device.queue.onSubmittedWorkDone();

  const wrap = (gpu, dims, type = 'float32') => ort.Tensor.fromGpuBuffer(gpu, { dataType: type, dims });

  /** A tensor in a buffer of the runtime's own: others it forgets after each run, and captured runs then fail. */
  async function upload({ data, dims, type = 'float32' }) {
    const gpu = device.createBuffer({ size: Math.ceil(data.byteLength / 16) * 16, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
    write(device, gpu, data);
    const { y } = await copiers[type].run({ x: wrap(gpu, [data.length], type) });
    await done();
    gpu.destroy();
    return { tensor: wrap(y.gpuBuffer, dims, type), dispose: () => y.dispose() };
  }

  /** A session of `count` nodes of one form. `run` gives the results, which the caller disposes of. */
  async function session(task, form, count, capture, wired, given) {
    const nodes = [];
    const outputs = [];
    const fetches = {};
    for (let i = 0; i < count; i++) {
      const inputs = wired.order.map((name, j) => (j === 0 && i > 0 && task.chains ? `y${i - 1}` : name));
      const extra = wired.extra.map(({ name }) => `${name}_${i}`);
      nodes.push({ op: form.op, domain: form.domain, inputs, outputs: [`y${i}`, ...extra], attributes: wired.attributes });
      if (i === 0 || i === count - 1) outputs.push(float(`y${i}`, wired.out));
      wired.extra.forEach(({ dims, same }, e) => {
        if (!same) return;
        outputs.push(float(extra[e], dims));
        fetches[extra[e]] = given.get(same).tensor;
      });
    }
    const made = await create({ nodes, inputs: wired.inputs, outputs, constants: wired.constants }, {
      enableGraphCapture: capture,
      // Nodes that take the same inputs would be merged into one, a transpose of a transpose into none.
      graphOptimizationLevel: task.chains || count === 1 ? 'all' : 'disabled',
    });
    const feeds = Object.fromEntries(wired.inputs.map(({ name }) => [name, given.get(name).tensor]));
    const fetched = Object.fromEntries(outputs.map(({ name }) => [name, fetches[name] ?? null]));
    const run = async () => {
      const results = await made.run(feeds, fetched);
      for (const name of Object.keys(fetches)) delete results[name]; // not ours to dispose of
      return Object.values(results);
    };
    return {
      run,
      calls: async (n) => {
        for (let i = 0; i < n; i++) for (const result of await run()) result.dispose();
      },
      release: () => made.release(),
    };
  }

  return {
    name: 'ort',
    label: 'ONNX Runtime Web',
    device,
    adapter,
    done,

    async prepare(row, task) {
      const forms = FORMS[row.op];
      if (!forms) return { missing: 'has no such op' };
      const estimate = (task.flops ?? 0) / 15e12 + (task.bytes ?? 0) / 1e12 + 20e-6;
      const count = small ? 2 : Math.max(1, Math.min(NODES_MAX, Math.floor(0.02 / estimate)));
      let best;
      const tried = [];
      for (const form of forms) {
        const wired = wiring(row, task, form);
        const given = new Map();
        for (const input of wired.inputs) given.set(input.name, await upload(input));
        const free = () => given.forEach((each) => each.dispose());
        for (const capture of [false, true]) {
          const note = [form.note ?? form.op, `${count} nodes`, capture ? 'captured' : 'not captured'].join(', ');
          let candidate;
          try {
            candidate = await session(task, form, count, capture, wired, given);
            await candidate.calls(small ? 2 : 5);
            await done();
            const runs = small ? 1 : Math.max(1, Math.min(20, Math.round(0.01 / (estimate * count))));
            const begun = performance.now();
            await candidate.calls(runs);
            await done();
            const ms = (performance.now() - begun) / runs / count;
            tried.push({ note, ms });
            const made = { ms, note, session: candidate, given, free };
            const loser = best && best.ms <= ms ? made : best;
            if (loser !== made) best = made;
            await loser?.session.release();
            if (loser && loser !== made && loser.given !== given) loser.free();
          } catch (error) {
            tried.push({ note, error: String(error.message ?? error).slice(0, 300) });
            await candidate?.release().catch(() => {});
          }
        }
        if (best?.given !== given) free();
      }
      if (!best) throw new Error(tried.map(({ note, error }) => `${note}: ${error}`).join('; '));
      return {
        note: best.note,
        tried,
        batch: count,
        call: (n) => best.session.calls(Math.ceil(n / count)),
        async rows(ids, width) {
          const results = await best.session.run();
          const values = await readRows(device, results[0].gpuBuffer, ids, width);
          results.forEach((each) => each.dispose());
          return values;
        },
        async dispose() {
          await done();
          await best.session.release();
          best.free();
        },
      };
    },

    async chain(x, b, n) {
      const dims = [x.length];
      const last = `y${n - 1}`;
      const made = await create({ nodes: additions(n, 'b'), inputs: [float('x', dims), float('b', dims)], outputs: [float(last, dims)] });
      const given = [await upload({ data: x, dims }), await upload({ data: b, dims })];
      return {
        note: `one graph of ${n} nodes, not captured`,
        call: async () => (await made.run({ x: given[0].tensor, b: given[1].tensor }))[last].getData(true),
        async dispose() {
          await made.release();
          given.forEach((each) => each.dispose());
        },
      };
    },

    async record(x) {
      const n = 500;
      const dims = [x.length];
      const last = `y${n - 1}`;
      const made = await create({ nodes: additions(n, 'x'), inputs: [float('x', dims)], outputs: [float(last, dims)] });
      const given = await upload({ data: x, dims });
      return {
        note: `graphs of ${n} nodes, not captured`,
        batch: n,
        async call(calls) {
          for (let i = 0; i < calls; i += n) (await made.run({ x: given.tensor }))[last].dispose();
        },
        async dispose() {
          await made.release();
          given.dispose();
        },
      };
    },

    async readback(x) {
      const dims = [x.length];
      const given = await upload({ data: x, dims });
      let fresh;
      return {
        async before() {
          fresh = (await copiers.float32.run({ x: given.tensor })).y;
          await done();
        },
        call: () => fresh.getData(true),
        dispose: () => given.dispose(),
      };
    },

    upload: () => ({ missing: 'takes GPU buffers that the page fills itself, as the hand-written row does' }),

    async close() {
      for (const each of Object.values(copiers)) await each.release();
    },
  };
}
