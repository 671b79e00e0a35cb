// tensorweft: each call makes a tensor and disposes of it, so that buffers go round.
import { Context } from 'tensorweft';
import { devices } from '../gpu.js';
import { BASE, EPS } from '../ops.js';

const CALLS = {
  mm: (a, b) => a.mm(b),
  mmBt: (a, b) => a.mmBt(b),
  softmax: (x) => x.softmax(),
  layernorm: (x, w, b) => x.layernorm(w, b, EPS),
  rmsnorm: (x, w) => x.rmsnorm(w, EPS),
  rope: (x, { heads }) => x.rope(heads, BASE),
  add: (a, b) => a.add(b),
  addBias: (a, b) => a.addBias(b),
  silu: (x) => x.silu(),
  gelu: (x) => x.gelu(),
  gather0: (x, ids) => x.gather0(ids),
  transpose2d: (x) => x.transpose2d(),
  causal: (q, k, v, { heads, kvHeads }) => q.mhaCausal(k, v, heads, kvHeads),
  decode: (q, k, v, { heads, kvHeads }) => q.mhaDecode(k, v, heads, kvHeads),
};

export async function open() {
  const made = devices.length;
  const ctx = await Context.create();
  const { device, adapter } = devices[made];
  // A read, however small, submits all that is recorded.
  const tiny = ctx.tensor([0], [1]);

  async function done() {
    const read = tiny.toArray();
    await Promise.resolve();
    await read;
    await device.queue.onSubmittedWorkDone();
  }

  /** Calls `f` over `x`, again and again; a chain gives each result to the next call. */
  function repeat(f, x, chain) {
    return (n) => {
      if (!chain) {
        for (let i = 0; i < n; i++) f(x).dispose();
        return;
      }
      let y = f(x);
      for (let i = 1; i < n; i++) {
        const next = f(y);
        y.dispose();
        y = next;
      }
      y.dispose();
    };
  }

  return {
    name: 'ours',
    label: 'tensorweft',
    device,
    adapter,
    done,

    prepare(row, task) {
      const inputs = task.inputs.map(({ data, shape, ids }) => (ids ? data : ctx.tensor(data, shape)));
      const f = (x) => CALLS[row.op](x, ...inputs.slice(1), task);
      return {
        call: repeat(f, inputs[0], row.chain),
        async rows(ids, width) {
          const [y, picked] = ctx.scope(() => {
            const whole = f(inputs[0]);
            return [whole, whole.dup(task.out).gather0(ids)];
          });
          const values = await picked.toArray();
          y.dispose();
          picked.dispose();
          if (values.length !== ids.length * width) throw new Error(`${values.length} values of ${ids.length} rows of ${width}`);
          return values;
        },
        dispose: () => inputs.forEach((t) => t.dispose?.()),
      };
    },

    /** `n` small additions, each on the result before it, then a read of the last. */
    chain(x, b, n) {
      const [start, step] = [ctx.tensor(x, [x.length]), ctx.tensor(b, [b.length])];
      return {
        async call() {
          let y = start.add(step);
          for (let i = 1; i < n; i++) {
            const next = y.add(step);
            y.dispose();
            y = next;
          }
          const values = await y.toArray();
          y.dispose();
          return values;
        },
        dispose: () => [start, step].forEach((t) => t.dispose()),
      };
    },

    /** Records `n` small additions and returns without waiting for any. */
    record(x) {
      const a = ctx.tensor(x, [x.length]);
      return { call: repeat((t) => t.add(a), a, false), dispose: () => a.dispose() };
    },

    readback(x) {
      const t = ctx.tensor(x, [x.length]);
      return { call: () => t.toArray(), dispose: () => t.dispose() };
    },

    upload(x) {
      let last;
      return {
        async call() {
          last?.dispose();
          last = ctx.tensor(x, [x.length]);
          await done();
        },
        check: () => last.toArray(),
        dispose: () => last?.dispose(),
      };
    },

    close: () => ctx.destroy(),
  };
}
