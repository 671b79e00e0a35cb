// TensorFlow.js on its WebGPU backend, called op by op, results disposed of at once.
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-webgpu';
import { devices, readRows } from '../gpu.js';

/** Ops that TensorFlow.js has as one call. */
const CALLS = {
  mm: (a, b) => tf.matMul(a, b),
  mmBt: (a, b) => tf.matMul(a, b, false, true),
  softmax: (x) => tf.softmax(x),
  add: (a, b) => tf.add(a, b),
  addBias: (a, b) => tf.add(a, b),
  gather0: (x, ids) => tf.gather(x, ids),
  transpose2d: (x) => tf.transpose(x),
};

export async function open() {
  const made = devices.length;
  tf.env().set('WEBGPU_CPU_FORWARD', false); // small ops on the GPU too
  if (!(await tf.setBackend('webgpu'))) throw new Error('the WebGPU backend did not start');
  await tf.ready();
  const backend = tf.backend();
  const { device, adapter } = devices[made];

  function flush() {
    if (backend.commandEncoder) {
      backend.endComputePassEncoder?.();
      backend.submitQueue();
    }
  }
  async function done() {
    flush();
    await device.queue.onSubmittedWorkDone();
  }
  const upload = (data, shape, type = 'float32') => {
    const t = tf.tensor(data, shape, type);
    backend.uploadToGPU(t.dataId);
    return t;
  };
  function repeat(f, x, chain) {
    return (n) => {
      let y = f(x);
      for (let i = 1; i < n; i++) {
        const next = f(chain ? y : x);
        y.dispose();
        y = next;
      }
      y.dispose();
    };
  }

  return {
    name: 'tfjs',
    label: 'TensorFlow.js',
    device,
    adapter,
    done,

    prepare(row, task) {
      const call = CALLS[row.op];
      if (!call) return { missing: 'has no such op' };
      const inputs = task.inputs.map(({ data, shape, ids }) => upload(ids ? Int32Array.from(data) : data, shape, ids ? 'int32' : 'float32'));
      const f = (x) => call(x, ...inputs.slice(1));
      return {
        call: repeat(f, inputs[0], row.chain),
        async rows(ids, width) {
          const y = f(inputs[0]);
          flush();
          const values = await readRows(device, backend.tensorMap.get(y.dataId).resource, ids, width);
          y.dispose();
          return values;
        },
        dispose: () => inputs.forEach((t) => t.dispose()),
      };
    },

    chain(x, b, n) {
      const [start, step] = [upload(x, [x.length]), upload(b, [b.length])];
      return {
        async call() {
          let y = tf.add(start, step);
          for (let i = 1; i < n; i++) {
            const next = tf.add(y, step);
            y.dispose();
            y = next;
          }
          const values = await y.data();
          y.dispose();
          return values;
        },
        dispose: () => [start, step].forEach((t) => t.dispose()),
      };
    },

    record(x) {
      const a = upload(x, [x.length]);
      return { call: repeat((t) => tf.add(t, a), a, false), dispose: () => a.dispose() };
    },

    // A tensor keeps what was read, so each read is of a result that nobody has read.
    readback(x) {
      const t = upload(x, [x.length]);
      const zero = upload(new Float32Array(1), [1]);
      let fresh;
      return {
        async before() {
          fresh = tf.add(t, zero);
          await done();
        },
        async call() {
          const values = await fresh.data();
          fresh.dispose();
          return values;
        },
        dispose: () => [t, zero].forEach((each) => each.dispose()),
      };
    },

    upload(x) {
      let last;
      return {
        async call() {
          last?.dispose();
          last = upload(x, [x.length]);
          await done();
        },
        check: async () => new Float32Array(await readRows(device, backend.tensorMap.get(last.dataId).resource, [0], x.length)),
        dispose: () => last?.dispose(),
      };
    },

    close() {},
  };
}
