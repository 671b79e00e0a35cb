// What the package costs at the WebGPU boundary: live bytes stay flat, a batch is one submit, a repeated layer creates nothing.

import { close, isTensorError, ok, rejects, same, settles } from '../expect.mjs';
import { values } from '../reference.mjs';

const ROUNDS = 10_000;

/** No more than at first: less it may be, where the garbage collector took what an earlier test had left to it. */
const flat = (live, settled, what) => ok(live <= settled, `${what}: got ${live}, want at most ${settled}`);

/**
 * The same chain of ops again and again in a context of its own; live GPU bytes must end where they stood after the
 * first hundred rounds. `chain` gives a function of one round, whose result is held to `want`.
 */
async function steady({ tw, spy }, chain, want) {
  const ctx = await tw.Context.create();
  const round = chain(ctx, ctx.tensor([1, -2, 3, -4], [2, 2]));
  let settled;
  for (let i = 1; i <= ROUNDS; i++) {
    const y = round();
    if (i % 100 === 0) close(await y.toArray(), want);
    y.dispose();
    if (i === 100) settled = spy.liveBytes;
  }
  ok(settled > 0, 'nothing was measured');
  flat(spy.liveBytes, settled, `live GPU bytes after ${ROUNDS} rounds`);
  same(ctx.memory().tensors, 1, `tensors after ${ROUNDS} rounds`);
  ctx.destroy();
}

/** A decoder layer's worth of ops, queued with no wait between. */
function layer(x, w) {
  const normed = x.rmsnorm(w.norm);
  const q = normed.mmBt(w.q).ropeOff(4, 10000, 3);
  const k = normed.mmBt(w.k).ropeOff(2, 10000, 3);
  const v = normed.mmBt(w.v);
  const attended = x.add(q.mhaCausal(k, v, 4, 2).mmBt(w.o));
  return attended.add(attended.rmsnorm(w.norm).mmBt(w.up).silu().mmBt(w.down));
}

export const memory = {
  'a steady loop with dispose() has a flat ceiling': (env) =>
    steady(
      env,
      (ctx, x) => () => {
        const a = x.relu();
        const b = a.mm(x);
        const c = b.add(a);
        const d = ctx.tensor([1, 1, 1, 1], [2, 2]);
        const y = c.mul(d);
        for (const t of [a, b, c, d]) t.dispose();
        return y;
      },
      [2, -2, 6, -6],
    ),
  'a steady loop in scope() has a flat ceiling': (env) =>
    steady(
      env,
      (ctx, x) => () =>
        ctx.scope(() =>
          x
            .relu()
            .mm(x)
            .add(x.relu())
            .mul(ctx.tensor([1, 1, 1, 1], [2, 2])),
        ),
      [2, -2, 6, -6],
    ),
  'a tensor that the GPU has no memory for spoils no other': async ({ tw, spy, TensorError }) => {
    const ctx = await tw.Context.create();
    const good = ctx.tensor([1, -2], [2]);
    close(await good.relu().toArray(), [1, 0]);
    const before = good.mulScalar(2).toArray();
    const { createBuffer } = GPUDevice.prototype;
    const bytes = 64 << 20;
    GPUDevice.prototype.createBuffer = function (given) {
      return createBuffer.call(this, given.size === bytes && given.usage & GPUBufferUsage.STORAGE ? { ...given, size: 2 ** 45 } : given);
    };
    let spoiled;
    try {
      const missing = ctx.empty([bytes / 4]);
      spoiled = [missing.toArray(), missing.relu().toArray()].map((read) => settles(read));
    } finally {
      GPUDevice.prototype.createBuffer = createBuffer;
    }
    const after = good.mulScalar(3).toArray();
    close(await before, [2, -4]);
    close(await after, [3, -6]);
    for (const { error } of await Promise.all(spoiled)) isTensorError(error, TensorError, ['out-of-memory', 'internal']);
    close(
      await ctx
        .empty([bytes / 4 / 2, 2])
        .gather0([7])
        .toArray(),
      [0, 0],
      { what: 'a second try' },
    );
    same(spy.uncaptured, [], 'uncaptured errors');
    ctx.destroy();
  },
  'reading a mebibyte again and again has a flat ceiling': async ({ context, spy }) => {
    const ctx = await context();
    const x = ctx.tensor(values(2 ** 18), [2 ** 18]);
    const last = Math.max(values(2 ** 18).at(-1), 0);
    let settled;
    for (let i = 0; i < 60; i++) {
      const y = await Promise.all(
        Array.from({ length: 5 }, () => {
          const r = x.relu();
          const read = r.toArray();
          r.dispose();
          return read;
        }),
      );
      for (const got of y) ok(got.length === 2 ** 18 && got.at(-1) === last, 'wrong values');
      if (i === 9) settled = spy.liveBytes;
    }
    ok(settled > 2 ** 20, 'nothing was measured');
    flat(spy.liveBytes, settled, 'live GPU bytes');
    x.dispose();
  },
  'a layer of twelve ops is one submit, and a second one creates nothing': async ({ tw, spy }) => {
    const ctx = await tw.Context.create();
    const [t, width, kv] = [5, 16, 8];
    const T = (seed, ...shape) =>
      ctx.tensor(
        values(
          shape.reduce((a, b) => a * b),
          seed,
        ),
        shape,
      );
    const w = {
      norm: T(1, width),
      q: T(2, width, width),
      k: T(3, kv, width),
      v: T(4, kv, width),
      o: T(5, width, width),
      up: T(6, 32, width),
      down: T(7, width, 32),
    };
    const x = T(8, t, width);
    await x.toArray(); // the uploads are submitted

    const results = [];
    const costs = [];
    for (let i = 0; i < 3; i++) {
      spy.reset();
      const y = ctx.scope(() => layer(x, w));
      results.push([...(await y.toArray())]);
      y.dispose();
      costs.push({ ...spy.n });
    }
    for (const [i, cost] of costs.entries()) same(cost.submit, 1, `submits of layer ${i + 1}`);
    for (const [i, cost] of costs.entries()) ok(cost.dispatch >= 12, `only ${cost.dispatch} dispatches in layer ${i + 1}`);
    for (const key of ['pipeline', 'shader', 'layout', 'buffer', 'bindGroup'])
      same(costs[1][key], 0, `${key}s created by the second layer`);
    same(results[1], results[0], 'the second layer');
    same(results[2], results[0], 'the third layer');
    ctx.destroy();
  },
  'new sequence lengths need no new pipelines': async ({ context, spy }) => {
    const ctx = await context();
    const run = async (t) => {
      const y = ctx.scope(() => {
        const x = ctx.tensor(values(t * 8), [t, 8]);
        const p = x.rope(2).mhaCausal(x, x, 2, 2).softmax();
        return p.mmBt(p).softmax();
      });
      const read = y.toArray();
      y.dispose();
      return read;
    };
    for (const t of [1, 2, 3, 31, 32, 33, 64, 127, 128, 129, 200]) await run(t);
    spy.reset();
    const all = await Promise.all(Array.from({ length: 200 }, (_, i) => run(i + 1)));
    all.forEach((y, i) => ok(y.length === (i + 1) ** 2, 'wrong length'));
    ok(spy.n.dispatch >= 200, 'nothing was measured');
    same([spy.n.pipeline, spy.n.shader], [0, 0], 'pipelines and shaders');
  },
  'ops beyond many batches stay cheap, and none creates anything': async ({ tw, spy }) => {
    const ctx = await tw.Context.create();
    const [a, b] = [ctx.tensor([1, 2, 3], [3]), ctx.tensor([1, 1, 1], [3])];
    const chain = (n) =>
      ctx.scope(() => {
        let x = a;
        for (let i = 0; i < n; i++) {
          const y = x.add(b);
          if (x !== a) x.dispose();
          x = y;
        }
        return x;
      });
    const read = async (x) => {
      const got = await x.toArray();
      x.dispose();
      return got;
    };
    close(await read(chain(64)), [65, 66, 67]);
    spy.reset();
    close(await read(chain(6400)), [6401, 6402, 6403]); // no turn for the page in between: a hundred batches without a verdict
    same(spy.n.dispatch, 6400, 'dispatches');
    ok(spy.n.submit <= 6400 / 32, `${spy.n.submit} submits`);
    same([spy.n.buffer, spy.n.bindGroup, spy.n.pipeline], [0, 0, 0], 'buffers, bind groups and pipelines');
    ctx.destroy();
  },
  'uploads and reads make no stop in wasm memory': async () => {
    const { instantiate } = WebAssembly;
    let memory;
    WebAssembly.instantiate = async (...given) => {
      const made = await instantiate(...given);
      memory = (made.instance ?? made).exports.memory;
      return made;
    };
    const { Context, init } = await import('/fresh39/index.js');
    await init();
    WebAssembly.instantiate = instantiate;
    const ctx = await Context.create();
    const data = values(2 ** 24);
    const small = ctx.tensor([1, 2], [2]);
    close(await small.toArray(), [1, 2]);
    const before = memory.buffer.byteLength;
    const large = ctx.tensor(data, [2 ** 24]);
    const got = await large.toArray();
    ok(got.length === data.length && got.every((value, i) => value === data[i]), 'wrong values');
    ok(memory.buffer.byteLength - before < 2 ** 20, `wasm memory grew from ${before} to ${memory.buffer.byteLength} bytes`);
    ctx.destroy();
  },
  'a read that the page has no memory for says so': async ({ context, TensorError }) => {
    const ctx = await context();
    const x = ctx.tensor(values(12_345), [12_345]);
    const Real = Uint8Array;
    globalThis.Uint8Array = new Proxy(Real, {
      construct(type, given, of) {
        if (given[0]?.length === 4 * 12_345) throw new RangeError('Array buffer allocation failed');
        return Reflect.construct(type, given, of);
      },
    });
    try {
      await rejects(x.toArray(), TensorError, 'out-of-memory', /^toArray: .*49380 bytes/);
    } finally {
      globalThis.Uint8Array = Real;
    }
    close(await x.toArray(), [...values(12_345)]);
    x.dispose();
  },
  'memory() counts what is alive': async ({ tw, spy }) => {
    const ctx = await tw.Context.create();
    same(ctx.memory().tensors, 0, 'tensors');
    const x = ctx.tensor(new Float32Array(1000), [1000]);
    const { tensors, liveBytes, pooledBytes, peakBytes } = ctx.memory();
    same(tensors, 1, 'tensors');
    ok(
      liveBytes >= 4000 && peakBytes >= liveBytes && pooledBytes >= 0,
      `liveBytes ${liveBytes}, peakBytes ${peakBytes}, pooledBytes ${pooledBytes}`,
    );
    ctx.scope(() => {
      x.dup([25, 40]).rope(2);
    }); // whose table of angles is the context's own
    same(ctx.memory().tensors, 1, 'tensors after rope');
    x.dispose();
    same([ctx.memory().tensors, ctx.memory().liveBytes], [0, 0], 'after dispose()');
    const before = spy.liveBytes;
    ctx.tensor(new Float32Array(2 ** 20), [2 ** 20]);
    ctx.destroy();
    ok(spy.liveBytes <= before, 'destroy() keeps GPU memory');
  },
};
