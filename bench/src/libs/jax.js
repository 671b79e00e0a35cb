// jax-js: each op under `jit`, each result asked for as a GPU buffer, which starts its work without waiting for it.
import { init, defaultDevice, getWebGPUDevice, jit, lax, nn, numpy as np } from '@jax-js/jax';
import { devices, readRows } from '../gpu.js';
import { EPS } from '../ops.js';

const rmsnorm = (x, w) => {
  const scale = np.mean(np.square(x.ref), -1, { keepdims: true }).add(EPS);
  return x.div(np.sqrt(scale)).mul(w);
};

const CALLS = {
  mm: (a, b) => np.dot(a, b),
  mmBt: (a, b) => np.dot(a, np.transpose(b)),
  softmax: (x) => nn.softmax(x, -1),
  layernorm: (x, w, b) => nn.standardize(x, -1, { epsilon: EPS }).mul(w).add(b),
  rmsnorm,
  add: (a, b) => np.add(a, b),
  addBias: (a, b) => np.add(a, b),
  silu: (x) => nn.silu(x),
  gelu: (x) => nn.gelu(x, { approximate: false }),
  gather0: (x, ids) => np.take(x, ids, 0),
  transpose2d: (x) => np.transpose(x),
  causal: (q, k, v) => nn.dotProductAttention(q, k, v, { isCausal: true }),
  decode: (q, k, v) => nn.dotProductAttention(q, k, v),
};

export async function open() {
  const made = devices.length;
  if (!(await init('webgpu')).includes('webgpu')) throw new Error('the WebGPU backend did not start');
  defaultDevice('webgpu');
  const device = getWebGPUDevice();
  const { adapter } = devices[made];
  const done = () => device.queue.onSubmittedWorkDone();
  const upload = (data, shape, dtype) => np.array(data, { shape, dtype, device: 'webgpu' });

  /** Starts the work on `y` and keeps it. */
  const start = (y) => (y.ref.gpuBufferSync(), y);

  function repeat(f, x, chain) {
    return (n) => {
      let y = start(f(x.ref));
      for (let i = 1; i < n; i++) {
        if (chain) {
          y = start(f(y));
        } else {
          y.dispose();
          y = start(f(x.ref));
        }
      }
      y.dispose();
    };
  }

  return {
    name: 'jax',
    label: 'jax-js',
    device,
    adapter,
    done,

    async prepare(row, task) {
      const call = CALLS[row.op];
      if (!call) return { missing: 'has no such op' };
      const attention = row.op === 'causal' || row.op === 'decode';
      const shapeOf = ([length, width]) => (attention ? [length, width / task.dh, task.dh] : [length, width]);
      const inputs = task.inputs.map(({ data, shape, ids }) =>
        ids ? upload(Int32Array.from(data), shape, np.int32) : upload(data, shape.length === 2 ? shapeOf(shape) : shape, np.float32));
      const jitted = jit(call);
      const f = (x) => jitted(x, ...inputs.slice(1).map((t) => t.ref));
      // Its kernels compile without blocking when first waited for like this.
      const first = f(inputs[0].ref);
      await first.blockUntilReady();
      first.dispose();
      return {
        call: repeat(f, inputs[0], row.chain),
        async rows(ids, width) {
          const y = f(inputs[0].ref);
          const buffer = y.ref.gpuBufferSync();
          const values = await readRows(device, buffer, ids, width);
          y.dispose();
          return values;
        },
        dispose() {
          inputs.forEach((t) => t.dispose());
          jitted.dispose?.();
        },
      };
    },

    chain(x, b, n) {
      const [first, step] = [upload(x, [x.length], np.float32), upload(b, [b.length], np.float32)];
      const add = jit((a, c) => np.add(a, c));
      return {
        async call() {
          let y = start(add(first.ref, step.ref));
          for (let i = 1; i < n; i++) y = start(add(y, step.ref));
          return y.data();
        },
        dispose: () => [first, step].forEach((t) => t.dispose()),
      };
    },

    record(x) {
      const a = upload(x, [x.length], np.float32);
      const add = jit((u, v) => np.add(u, v));
      return { call: repeat((t) => add(t, a.ref), a, false), dispose: () => a.dispose() };
    },

    readback(x) {
      const t = upload(x, [x.length], np.float32);
      return { call: () => t.ref.data(), dispose: () => t.dispose() };
    },

    upload(x) {
      let last;
      return {
        async call() {
          last?.dispose();
          last = start(upload(x, [x.length], np.float32));
          await done();
        },
        check: () => last.ref.data(),
        dispose: () => last?.dispose(),
      };
    },

    close() {},
  };
}
