// Faults of the browser and of the GPU, injected at WebGPU's own objects: each says what failed, on what, and why.

import { close, isTensorError, ok, rejects, same, settles } from '../expect.mjs';

/** Replaces a method of a class of WebGPU while `f` runs. */
async function replaced(type, name, make, f) {
  const original = type.prototype[name];
  type.prototype[name] = make(original);
  try {
    return await f();
  } finally {
    type.prototype[name] = original;
  }
}

const adapterRequest = (answer, f) => replaced(GPU, 'requestAdapter', () => answer, f);

/** Gives buffers of so many bytes, or more, a size that no GPU has memory for. */
const withoutMemory = (bytes, f) =>
  replaced(
    GPUDevice,
    'createBuffer',
    (create) =>
      function (given) {
        return create.call(this, given.size >= bytes ? { ...given, size: 2 ** 45 } : given);
      },
    f,
  );

export const faults = {
  'an adapter request that fails gives the reason': async ({ tw, TensorError }) => {
    const refusals = [
      () => Promise.reject(new Error('blocked by the policy of this page')),
      () => {
        throw new TypeError('blocked by the policy of this page');
      },
    ];
    for (const refusal of refusals) {
      await adapterRequest(refusal, async () => {
        await rejects(tw.Context.create(), TensorError, 'no-adapter', /blocked by the policy of this page/);
        await rejects(tw.Context.forAdapter(0), TensorError, 'no-adapter', /blocked by the policy of this page/);
        same(await tw.Context.enumerate(), []);
      });
    }
  },
  'an adapter request that is never answered is given up within ten seconds': async ({ tw, TensorError }) => {
    await adapterRequest(
      () => new Promise(() => {}),
      async () => {
        const calls = [tw.Context.create(), tw.Context.enumerate(), tw.Context.forAdapter(0)];
        const [created, listed, chosen] = await Promise.all(calls.map((call) => settles(call, 10)));
        isTensorError(created.error, TensorError, 'no-adapter', /did not answer requestAdapter/);
        isTensorError(chosen.error, TensorError, 'no-adapter', /did not answer requestAdapter/);
        same(listed, { how: 'value', value: [] });
      },
    );
  },
  'a lack of memory names the op, the shape and the bytes': async ({ tw, TensorError }) => {
    const ctx = await tw.Context.create();
    const small = ctx.tensor([1, -2], [1, 2]);
    const wide = ctx.empty([1, 4096]);
    await Promise.all([small.toArray(), wide.toArray()]);
    const memory = ['out-of-memory', 'internal']; // a browser may call such a size invalid
    const failed = await withoutMemory(2 ** 24, () => {
      const tall = ctx.tensor(new Float32Array(4096), [4096, 1]);
      const reads = [ctx.empty([3000, 2000]), tall.mm(wide), tall.mm(wide).relu()].map((t) => t.toArray());
      return Promise.all(reads.map((read) => settles(read)));
    });
    const told = [
      /^empty: 25165824 bytes for \[3000, 2000\], with \d+ bytes in use: ./,
      /^mm: 67108864 bytes for \[4096, 4096\], with \d+ bytes in use: ./,
      /^mm: 67108864 bytes for \[4096, 4096\], with \d+ bytes in use: ./,
    ];
    for (const [i, { error }] of failed.entries()) {
      const text = /^\w+: (?:out of GPU memory: )?(.*)$/s;
      isTensorError(error, TensorError, memory);
      const plain = `${error.message.split(':')[0]}: ${error.message.match(text)[1]}`;
      ok(told[i].test(plain), `read ${i}: ${error.message}`);
    }
    close(await small.relu().toArray(), [1, 0]);
    ctx.destroy();
  },
  'a read without memory names itself and its shape': async ({ tw, TensorError }) => {
    const ctx = await tw.Context.create();
    const x = ctx.empty([1024, 300]);
    close(await x.dup([2, 153600]).gather0([1]).dup([1024, 150]).toArray(), new Float32Array(153600));
    const failed = await withoutMemory(2 ** 20, () => settles(x.toArray()));
    isTensorError(failed.error, TensorError, ['out-of-memory', 'internal'], /^toArray: .*bytes for \[1024, 300\]/s);
    same((await x.toArray()).length, 307200);
    ctx.destroy();
  },
  'work that the GPU refuses names what was submitted': async ({ tw, spy, TensorError }) => {
    const ctx = await tw.Context.create();
    const x = ctx.tensor([1, -2], [1, 2]);
    close(await x.relu().toArray(), [1, 0]);
    const dispatch = (original) =>
      function () {
        return original.call(this, 2 ** 20, 1, 1); // beyond every limit
      };
    const reads = await replaced(GPUComputePassEncoder, 'dispatchWorkgroups', dispatch, async () => {
      const chain = settles(x.relu().add(x).toArray());
      return [await chain, await settles(x.gelu().toArray())];
    });
    const [chain, single] = reads.map(({ error }) => error);
    isTensorError(chain, TensorError, 'internal', /^relu: one of 3 ops submitted together, relu \[1, 2\] · add \[1, 2\]/);
    isTensorError(single, TensorError, 'internal', /^gelu: one of 2 ops submitted together, gelu \[1, 2\]/);
    close(await x.relu().toArray(), [1, 0]);
    same(spy.uncaptured, [], 'uncaptured errors');
    ctx.destroy();
  },
};
