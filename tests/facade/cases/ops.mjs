// Each method of Tensor, KvCache and Context against float64 loops, on small shapes with uneven sides.

import { close, ok, same } from '../expect.mjs';
import * as ref from '../reference.mjs';

const { values } = ref;
const positive = (x) => x.map((v) => Math.abs(v) + 0.25);

// Bounds of the contract: 2e-6 of the row's largest |value| for softmax and norms, 1e-5·max|v| for attention.
const TRANSCENDENTAL = { rel: 2e-6, abs: 1e-5 };
const EXACT = { rel: 0, abs: 0 };
const ROUNDED = ['relu', 'sqrt', 'add', 'sub', 'mul', 'div']; // nothing is approximated: the bounds that `close` has
const ROWS = { rel: 0, abs: 2e-6 * 4 + 1e-7 };
const ATTENTION = { rel: 0, abs: 1e-5 };
const product = (k) => ({ rel: 0, abs: 2 * Math.sqrt(k) * 2 ** -24 * k });

async function check(tensor, shape, want, bounds) {
  same([...tensor.shape], shape, 'shape');
  same(tensor.size, want.length, 'size');
  same(tensor.dtype, 'float32', 'dtype');
  close(await tensor.toArray(), want, bounds);
}

async function cached(tensor, want) {
  close(await tensor.toArray(), want, EXACT);
  same(tensor.dtype, 'float16', 'dtype');
}

/** Runs `f` twice with the very same handles: no op consumes its inputs, and the same call gives the same bits. */
async function twice(f, shape, want, bounds) {
  const [first, second] = [f(), f()];
  await check(first, shape, want, bounds);
  same([...(await second.toArray())], [...(await first.toArray())], 'the second call with the same handles');
}

/** The ops of one tensor and of two that have a formula of their own here. */
const formulas = { ...ref.unary, ...ref.binary };

const elementwise = Object.fromEntries(
  Object.entries(formulas).map(([op, f]) => [
    `Tensor.${op}`,
    async (env) => {
      const ctx = await env.context();
      const a = op === 'sqrt' ? positive(values(77, 3)) : values(77, 3).map((v) => v * 3.9);
      const x = ctx.tensor(a, [7, 11]);
      const bounds = ROUNDED.includes(op) ? undefined : TRANSCENDENTAL;
      if (op in ref.unary)
        return twice(
          () => x[op](),
          [7, 11],
          Array.from(a, (v) => f(v)),
          bounds,
        );
      const b = positive(values(77, 5));
      const y = ctx.tensor(b, [7, 11]);
      await twice(
        () => x[op](y),
        [7, 11],
        Array.from(a, (v, i) => f(v, b[i])),
        bounds,
      );
      return check(
        x[op](x),
        [7, 11],
        Array.from(a, (v) => f(v, v)),
        bounds,
      ); // one handle for both inputs
    },
  ]),
);

/** Calls a method on one tensor, or on two of one shape, whichever it takes. */
function regular(op, x, y) {
  try {
    return x[op]();
  } catch {
    return x[op](y);
  }
}

const named = {
  'Context.tensor copies at the call, from arrays and from views': async (env) => {
    const ctx = await env.context();
    const source = Float32Array.of(9, 9, 1, 2, 3, 4, 5, 6, 9);
    const view = new Float32Array(source.buffer, 8, 6);
    const x = ctx.tensor(view, [2, 3]);
    source.fill(-1);
    await check(x, [2, 3], [1, 2, 3, 4, 5, 6]);
    await check(ctx.tensor([0.5, -2], [2]), [2], [0.5, -2]);
    await check(ctx.tensor([7], []), [], [7]);
  },
  'Context.empty reads as zeros': async (env) => {
    const ctx = await env.context();
    ctx.tensor(values(6).fill(7), [6]).dispose(); // leaves a used buffer of the same size in the pool
    await check(ctx.empty([2, 3]), [2, 3], [0, 0, 0, 0, 0, 0]);
  },
  'Tensor.to: float16 uploads of every kind, exact values, and back': async (env) => {
    const ctx = await env.context();
    const kept = [1, -2.5, 0, 65504, 2 ** -24, Infinity, NaN];
    const bits = Uint16Array.of(0x3c00, 0xc100, 0, 0x7bff, 1, 0x7c00, 0x7e00);
    const padded = Uint16Array.of(9, ...bits, 9);
    const uploads = [
      ctx.tensorF16(kept, [7]),
      ctx.tensorF16(Float32Array.from(kept), [7]),
      ctx.tensorF16(bits, [7]),
      ctx.tensorF16(padded.subarray(1, 8), [7]),
      ctx.tensor(kept, [7]).to('float16'),
    ];
    if (globalThis.Float16Array)
      uploads.push(ctx.tensorF16(Float16Array.from(kept), [7]), ctx.tensorF16(new Float16Array(padded.buffer, 2, 7), [7]));
    padded.fill(0);
    for (const x of uploads) {
      same([x.dtype, x.size, ...x.shape], ['float16', 7, 7]);
      close(await x.toArray(), kept, EXACT);
      same(x.to('float32').dtype, 'float32', 'dtype');
      close(await x.to('float32').toArray(), kept, EXACT);
    }
    const growing = new ArrayBuffer(6, { maxByteLength: 64 });
    new Uint16Array(growing).fill(0x4000);
    close(await ctx.tensorF16(new Uint16Array(growing), [3]).toArray(), [2, 2, 2]);
    close(
      await ctx.tensorF16([65519.99, 65520, -1e30, 0.1, 2049, 2051, 2 ** -25], [7]).toArray(),
      [65504, Infinity, -Infinity, 0.0999755859375, 2048, 2052, 0],
      EXACT,
    );
    const large = new Uint16Array(9_000_001).map((_, i) => 0x3c00 + (i % 1024)); // more than one slice, and no whole word at the end
    const got = await ctx.tensorF16(large, [9_000_001]).toArray();
    ok(got.length === 9_000_001 && got.every((v, i) => v === 1 + (i % 1024) / 1024), 'a large upload');
    await check(ctx.tensorF16(new Uint16Array(0), [0, 4]).relu(), [0, 4], []);
    same(ctx.tensorF16([], [0]).dtype, 'float16', 'dtype');
  },
  'float16: ops take it, give float32, and dup keeps it': async (env) => {
    const ctx = await env.context();
    const half = (x) => x.map((v) => Math.round(v * 512) / 512); // values that float16 has
    const [a, b] = [half(values(15, 44)), half(values(35, 45))];
    const [x, y] = [ctx.tensorF16(a, [3, 5]), ctx.tensorF16(b, [5, 7])];
    await twice(() => x.mm(y), [3, 7], ref.mm(a, b, 3, 5, 7), product(5));
    await twice(() => ctx.tensor(a, [3, 5]).mmBt(y.dup([7, 5])), [3, 7], ref.mmBt(a, b, 3, 7, 5), product(5));
    await twice(
      () => x.add(x),
      [3, 5],
      Array.from(a, (v) => v + v),
    );
    await check(y.gather0([4, 1]), [2, 7], [...b.slice(28, 35), ...b.slice(7, 14)]);
    await check(x.softmax(), [3, 5], ref.softmax(a, 5), ROWS);
    const z = x.dup([5, 3]);
    same([z.dtype, x.to('float16').dtype, ...z.shape], ['float16', 'float16', 5, 3]);
    x.dispose();
    close(await z.toArray(), Array.from(a), EXACT);
    const before = ctx.memory().liveBytes;
    const large = ctx.tensorF16(new Uint16Array(2 ** 16), [256, 256]);
    same(ctx.memory().liveBytes - before, 2 ** 17, 'bytes of 65,536 halves');
    large.dispose();
  },
  'float16: a KvCache of it': async (env) => {
    const ctx = await env.context();
    const cache = ctx.kvCache(4, 3, 'float16');
    same(
      [cache.k.dtype, cache.v.dtype, cache.length, ctx.kvCache(1, 1).k.dtype, ctx.kvCache(1, 1, 'float32').k.dtype],
      ['float16', 'float16', 0, 'float32', 'float32'],
    );
    const row = (x) => ctx.tensor([x, x + 0.5, x + 0.0001], [1, 3]);
    cache.append(row(1), row(-1));
    cache.append(row(2).to('float16'), row(-2));
    await cached(cache.k, [1, 1.5, 1, 2, 2.5, 2, 0, 0, 0, 0, 0, 0]);
    await cached(cache.v, [-1, -0.5, -1, -2, -1.5, -2, 0, 0, 0, 0, 0, 0]);
    const q = ctx.tensor([0.5, 0.25, -1], [1, 3]);
    close(
      await q.mhaDecode(cache.k, cache.v, 1, 1, 2).toArray(),
      ref.mha(
        Float32Array.of(0.5, 0.25, -1),
        Float32Array.of(1, 1.5, 1, 2, 2.5, 2),
        Float32Array.of(-1, -0.5, -1, -2, -1.5, -2),
        1,
        2,
        1,
        1,
        3,
        1,
      ),
      ATTENTION,
    );
    cache.dispose();
  },
  'Tensor.shape cannot be changed from outside': async (env) => {
    const ctx = await env.context();
    const given = [2, 3];
    const x = ctx.tensor(values(6), given);
    given[0] = 6;
    try {
      x.shape[0] = 6;
    } catch {
      /* frozen is as good */
    }
    same([...x.shape], [2, 3], 'shape');
  },
  'Tensor.toArray gives a fresh array each time': async (env) => {
    const ctx = await env.context();
    const x = ctx.tensor([1, 2, 3], [3]);
    const first = await x.toArray();
    first.fill(0);
    close(await x.toArray(), [1, 2, 3]);
    ok(first.buffer.byteLength === 12, 'toArray hands out a view into a larger buffer');
  },
  ...elementwise,
  'Tensor.mm': async (env) => {
    const ctx = await env.context();
    for (const [m, k, n] of [
      [1, 1, 1],
      [3, 5, 7],
      [17, 33, 19],
      [65, 64, 66],
    ]) {
      const [a, b] = [values(m * k, 1), values(k * n, 2)];
      const [x, y] = [ctx.tensor(a, [m, k]), ctx.tensor(b, [k, n])];
      await twice(() => x.mm(y), [m, n], ref.mm(a, b, m, k, n), product(k));
    }
  },
  'Tensor.mmBt, with and without scale': async (env) => {
    const ctx = await env.context();
    for (const [m, k, n] of [
      [1, 1, 1],
      [3, 5, 7],
      [17, 33, 19],
      [1, 64, 130],
    ]) {
      const [a, b] = [values(m * k, 1), values(n * k, 2)];
      const [x, y] = [ctx.tensor(a, [m, k]), ctx.tensor(b, [n, k])];
      await twice(() => x.mmBt(y), [m, n], ref.mmBt(a, b, m, n, k), product(k));
      await check(x.mmBt(y, 0.125), [m, n], ref.mmBt(a, b, m, n, k, 0.125), product(k));
    }
  },
  'Tensor.mulScalar by a tensor and by a number': async (env) => {
    const ctx = await env.context();
    const a = values(10, 6);
    const [x, s] = [ctx.tensor(a, [2, 5]), ctx.tensor([-1.75], [1])];
    await twice(
      () => x.mulScalar(s),
      [2, 5],
      Array.from(a, (v) => v * -1.75),
    );
    await twice(
      () => x.mulScalar(3),
      [2, 5],
      Array.from(a, (v) => v * 3),
    );
  },
  'Tensor.addBias': async (env) => {
    const ctx = await env.context();
    const [a, b] = [values(21, 7), values(7, 8)];
    const [x, bias] = [ctx.tensor(a, [3, 7]), ctx.tensor(b, [7])];
    await twice(
      () => x.addBias(bias),
      [3, 7],
      Array.from(a, (v, i) => v + b[i % 7]),
    );
    await check(
      x.addBias(bias, undefined),
      [3, 7],
      Array.from(a, (v, i) => v + b[i % 7]),
    );
    for (const activation of ['relu', 'silu', 'gelu', 'geluTanh']) {
      const want = Array.from(a, (v, i) => ref.unary[activation](v + b[i % 7]));
      await twice(() => x.addBias(bias, activation), [3, 7], want, TRANSCENDENTAL);
    }
  },
  'Tensor.dup': async (env) => {
    const ctx = await env.context();
    const a = values(12, 9);
    const x = ctx.tensor(a, [3, 4]);
    const y = x.dup([2, 6]);
    x.dispose(); // same data, a handle of its own
    await check(y, [2, 6], Array.from(a));
  },
  'Tensor.gather0': async (env) => {
    const ctx = await env.context();
    const a = values(12, 10);
    const x = ctx.tensor(a, [4, 3]);
    const want = [3, 0, 3].flatMap((r) => Array.from(a.slice(r * 3, r * 3 + 3)));
    await twice(() => x.gather0(Uint32Array.of(3, 0, 3)), [3, 3], want);
    await check(x.gather0([3, 0, 3]), [3, 3], want);
    await check(x.gather0([]), [0, 3], []);
  },
  'Tensor.transpose2d': async (env) => {
    const ctx = await env.context();
    const a = values(35 * 18, 11);
    const x = ctx.tensor(a, [35, 18]);
    await twice(() => x.transpose2d(), [18, 35], ref.transpose(a, 35, 18));
  },
  'Tensor.softmax': async (env) => {
    const ctx = await env.context();
    const a = values(3 * 37, 12).map((v) => v * 8);
    const x = ctx.tensor(a, [3, 37]);
    await twice(() => x.softmax(), [3, 37], ref.softmax(a, 37), ROWS);
    const masked = ctx.tensor([-Infinity, -Infinity, 0, 0, 1000, 1001], [3, 2]).softmax();
    await check(masked, [3, 2], [0, 0, 0.5, 0.5, ...ref.softmax([1000, 1001], 2)], ROWS);
  },
  'Tensor.rmsnorm, default and own eps': async (env) => {
    const ctx = await env.context();
    const [a, w] = [values(3 * 37, 13), values(37, 14)];
    const [x, weight] = [ctx.tensor(a, [3, 37]), ctx.tensor(w, [37])];
    await twice(() => x.rmsnorm(weight), [3, 37], ref.rmsnorm(a, w, 37), ROWS);
    await check(x.rmsnorm(weight, 0.5), [3, 37], ref.rmsnorm(a, w, 37, 0.5), ROWS);
  },
  'Tensor.layernorm, default and own eps': async (env) => {
    const ctx = await env.context();
    const [a, w, b] = [values(3 * 37, 15), values(37, 16), values(37, 17)];
    const [x, weight, bias] = [ctx.tensor(a, [3, 37]), ctx.tensor(w, [37]), ctx.tensor(b, [37])];
    await twice(() => x.layernorm(weight, bias), [3, 37], ref.layernorm(a, w, b, 37), ROWS);
    await check(x.layernorm(weight, bias, 0.5), [3, 37], ref.layernorm(a, w, b, 37, 0.5), ROWS);
  },
  'Tensor.addRmsnorm and addLayernorm give the sum and its norm': async ({ tw }) => {
    const ctx = await tw.Context.create(); // its own, to count
    for (const d of [37, 8200]) {
      const [a, r, w, b] = [values(3 * d, 13), values(3 * d, 14), values(d, 15), values(d, 16)];
      const added = Float32Array.from(a, (v, i) => v + r[i]);
      const [x, y, weight, bias] = [ctx.tensor(a, [3, d]), ctx.tensor(r, [3, d]), ctx.tensor(w, [d]), ctx.tensor(b, [d])];
      for (const eps of [undefined, 0.5]) {
        for (const [[sum, normed], want] of [
          [x.addRmsnorm(y, weight, eps), ref.rmsnorm(added, w, d, eps)],
          [x.addLayernorm(y, weight, bias, eps), ref.layernorm(added, w, b, d, eps)],
        ]) {
          await check(sum, [3, d], [...added]);
          await check(normed, [3, d], want, ROWS);
          sum.dispose();
          same(normed.disposed, false, 'the norm after its sum');
          await check(normed, [3, d], want, ROWS);
          normed.dispose();
        }
      }
      [x, y, weight, bias].forEach((t) => t.dispose());
    }
    same(ctx.memory().tensors, 0, 'tensors');
    const x = ctx.tensor([3, 4], [1, 2]);
    const one = ctx.tensor([1, 1], [2]);
    const [sum, normed] = ctx.scope(() => x.addRmsnorm(x, one));
    await check(sum, [1, 2], [6, 8]);
    same(ctx.memory().tensors, 4, 'both kept by a scope');
    const kept = ctx.scope(() => x.addLayernorm(x, one, one)[0]);
    await check(kept, [1, 2], [6, 8]);
    same(ctx.memory().tensors, 5, 'one kept by a scope');
    for (const t of [sum, normed, kept]) t.dispose();
    same(ctx.memory().tensors, 2, 'once they are disposed of');
    ctx.destroy();
  },
  'Tensor.rope and ropeOff': async (env) => {
    const ctx = await env.context();
    const a = values(5 * 2 * 6, 18);
    const x = ctx.tensor(a, [5, 12]);
    await twice(() => x.rope(2), [5, 12], ref.rope(a, 5, 2), TRANSCENDENTAL);
    await check(x.rope(2, 500), [5, 12], ref.rope(a, 5, 2, 500), TRANSCENDENTAL);
    await twice(() => x.ropeOff(2, 10000, 7), [5, 12], ref.rope(a, 5, 2, 10000, 7), TRANSCENDENTAL);
    const known = ctx.tensor([1, 2, 3, 4], [1, 4]).ropeOff(1, 10000, 5);
    await check(known, [1, 4], [3.160435, 1.797584, -0.107938, 4.094959], { rel: 0, abs: 2e-6 });
  },
  'Tensor.attention, default and own scale': async (env) => {
    const ctx = await env.context();
    const [rq, rk, d, dv] = [5, 9, 7, 3];
    const [q, k, v] = [values(rq * d, 19), values(rk * d, 20), values(rk * dv, 21)];
    const [tq, tk, tv] = [ctx.tensor(q, [rq, d]), ctx.tensor(k, [rk, d]), ctx.tensor(v, [rk, dv])];
    await twice(() => tq.attention(tk, tv), [rq, dv], ref.attention(q, k, v, rq, rk, d, dv), ATTENTION);
    await check(tq.attention(tk, tv, 2), [rq, dv], ref.attention(q, k, v, rq, rk, d, dv, 2), ATTENTION);
    const x = ctx.tensor(q, [rq, d]);
    await check(x.attention(x, x), [rq, d], ref.attention(q, q, q, rq, rq, d, d), ATTENTION);
  },
  'Tensor.mhaCausal, heads in groups': async (env) => {
    const ctx = await env.context();
    for (const [t, hq, hkv, dh] of [
      [1, 1, 1, 1],
      [9, 4, 2, 8],
      [33, 6, 2, 5],
    ]) {
      const [q, k, v] = [values(t * hq * dh, 22), values(t * hkv * dh, 23), values(t * hkv * dh, 24)];
      const [tq, tk, tv] = [ctx.tensor(q, [t, hq * dh]), ctx.tensor(k, [t, hkv * dh]), ctx.tensor(v, [t, hkv * dh])];
      await twice(() => tq.mhaCausal(tk, tv, hq, hkv), [t, hq * dh], ref.mha(q, k, v, t, t, hq, hkv, dh, 0), ATTENTION);
    }
  },
  'Tensor.mhaCausalOff sees the cached prefix': async (env) => {
    const ctx = await env.context();
    const [t, offset, hq, hkv, dh] = [3, 4, 4, 2, 8];
    const s = t + offset;
    const [q, k, v] = [values(t * hq * dh, 25), values(s * hkv * dh, 26), values(s * hkv * dh, 27)];
    const [tq, tk, tv] = [ctx.tensor(q, [t, hq * dh]), ctx.tensor(k, [s, hkv * dh]), ctx.tensor(v, [s, hkv * dh])];
    await twice(() => tq.mhaCausalOff(tk, tv, hq, hkv, offset), [t, hq * dh], ref.mha(q, k, v, t, s, hq, hkv, dh, offset), ATTENTION);
  },
  'Tensor.mhaDecode, all rows and the first s': async (env) => {
    const ctx = await env.context();
    const [s, hq, hkv, dh] = [13, 4, 2, 8];
    const [q, k, v] = [values(hq * dh, 28), values(s * hkv * dh, 29), values(s * hkv * dh, 30)];
    const [tq, tk, tv] = [ctx.tensor(q, [1, hq * dh]), ctx.tensor(k, [s, hkv * dh]), ctx.tensor(v, [s, hkv * dh])];
    await twice(() => tq.mhaDecode(tk, tv, hq, hkv), [1, hq * dh], ref.mha(q, k, v, 1, s, hq, hkv, dh, s - 1), ATTENTION);
    await check(tq.mhaDecode(tk, tv, hq, hkv, 5), [1, hq * dh], ref.mha(q, k, v, 1, 5, hq, hkv, dh, 4), ATTENTION);
  },
  'KvCache grows, truncates and refuses what does not fit': async (env) => {
    const ctx = await env.context();
    const cache = ctx.kvCache(4, 2);
    same([cache.length, cache.capacity], [0, 4]);
    cache.append(ctx.tensor([1, 2], [1, 2]), ctx.tensor([-1, -2], [1, 2]));
    cache.append(ctx.tensor([3, 4, 5, 6], [2, 2]), ctx.tensor([-3, -4, -5, -6], [2, 2]));
    same(cache.length, 3);
    await check(cache.k, [4, 2], [1, 2, 3, 4, 5, 6, 0, 0]);
    await check(cache.v, [4, 2], [-1, -2, -3, -4, -5, -6, 0, 0]);
    const two = ctx.tensor([7, 7, 7, 7], [2, 2]);
    let refused;
    try {
      cache.append(two, two);
    } catch (error) {
      refused = error;
    }
    ok(refused instanceof env.TensorError && /4/.test(refused.message), 'an append beyond the capacity must throw and name it');
    same(cache.length, 3, 'length after a refused append');
    await check(cache.k, [4, 2], [1, 2, 3, 4, 5, 6, 0, 0]);
    cache.truncate(1);
    same(cache.length, 1);
    const row = ctx.tensor([8, 9], [1, 2]);
    cache.append(row, row); // the same handle as key and value
    close((await cache.k.toArray()).slice(0, 4), [1, 2, 8, 9]);
    close((await cache.v.toArray()).slice(0, 4), [-1, -2, 8, 9]);
    cache.dispose();
    cache.dispose();
  },
  'KvCache: decoding step by step equals one causal pass': async (env) => {
    const ctx = await env.context();
    const [t, hq, hkv, dh] = [6, 4, 2, 4];
    const [q, k, v] = [values(t * hq * dh, 31), values(t * hkv * dh, 32), values(t * hkv * dh, 33)];
    const cache = ctx.kvCache(16, hkv * dh);
    const row = (x, i, w) => ctx.tensor(x.slice(i * w, (i + 1) * w), [1, w]);
    const steps = [];
    for (let i = 0; i < t; i++) {
      cache.append(row(k, i, hkv * dh), row(v, i, hkv * dh));
      steps.push(
        row(q, i, hq * dh)
          .mhaDecode(cache.k, cache.v, hq, hkv, cache.length)
          .toArray(),
      );
    }
    const got = Float32Array.from((await Promise.all(steps)).flatMap((x) => [...x]));
    close(got, ref.mha(q, k, v, t, t, hq, hkv, dh, 0), ATTENTION);
  },
  'KvCache.appendRope turns keys at their place': async (env) => {
    const ctx = await env.context();
    for (const dh of [6, 8]) {
      const [k, v] = [values(5 * 2 * dh, 31), values(5 * 2 * dh, 32)];
      for (const base of [undefined, 500]) {
        const cache = ctx.kvCache(6, 2 * dh);
        for (const [from, to] of [
          [0, 3],
          [3, 4],
          [4, 4],
          [4, 5],
        ]) {
          const part = (x) => ctx.tensor(x.slice(from * 2 * dh, to * 2 * dh), [to - from, 2 * dh]);
          cache.appendRope(part(k), part(v), 2, base);
        }
        same(cache.length, 5);
        const none = new Array(2 * dh).fill(0);
        await check(cache.k, [6, 2 * dh], [...ref.rope(k, 5, 2, base), ...none], TRANSCENDENTAL);
        await check(cache.v, [6, 2 * dh], [...v, ...none]);
        cache.dispose();
      }
    }
  },
  'empty in, empty out': async (env) => {
    const ctx = await env.context();
    const none = ctx.tensor([], [0, 4]);
    await check(none, [0, 4], []);
    await check(none.softmax(), [0, 4], []);
    for (const t of none.addRmsnorm(none, ctx.empty([4]))) await check(t, [0, 4], []);
    await check(none.transpose2d(), [4, 0], []);
    await check(none.mm(ctx.empty([4, 3])), [0, 3], []);
    await check(ctx.empty([2, 0]).mm(ctx.empty([0, 3])), [2, 3], [0, 0, 0, 0, 0, 0]);
    await check(ctx.tensor(values(8), [2, 4]).attention(none, ctx.empty([0, 3])), [2, 3], [0, 0, 0, 0, 0, 0]);
  },
  'each dispatch keeps its own parameters': async (env) => {
    const ctx = await env.context();
    const a = values(16, 34);
    const x = ctx.tensor(a, [2, 8]);
    const scaled = Array.from({ length: 1000 }, (_, i) => x.mulScalar(i + 0.5));
    const [near, far] = [x.ropeOff(1, 10000, 0), x.ropeOff(1, 10000, 7)];
    close(await near.toArray(), ref.rope(a, 2, 1, 10000, 0), TRANSCENDENTAL);
    close(await far.toArray(), ref.rope(a, 2, 1, 10000, 7), TRANSCENDENTAL);
    const all = await Promise.all(scaled.map((y) => y.toArray()));
    all.forEach((y, i) =>
      close(
        y,
        Array.from(a, (v) => v * (i + 0.5)),
        { what: `scalar ${i}` },
      ),
    );
    scaled.forEach((y) => y.dispose());
  },
  'host-array ops of Context': async (env) => {
    const ctx = await env.context();
    const [m, k, n] = [3, 5, 7];
    const [a, b, bt] = [values(m * k, 35), values(k * n, 36), values(n * k, 37)];
    close(await ctx.matmul(a, b, m, k, n), ref.mm(a, b, m, k, n), product(k));
    close(await ctx.matmulBt(a, bt, m, n, k), ref.mmBt(a, bt, m, n, k), product(k));
    close(await ctx.matmulBt(a, bt, m, n, k, 0.5), ref.mmBt(a, bt, m, n, k, 0.5), product(k));
    close(
      await ctx.add(a, a),
      Array.from(a, (v) => v + v),
    );
    close(await ctx.silu(a), Array.from(a, ref.unary.silu), TRANSCENDENTAL);
    close(await ctx.softmax(a, m, k), ref.softmax(a, k), ROWS);
    const [w, c] = [values(k, 38), values(k, 39)];
    close(await ctx.layernorm(a, w, c, m, k), ref.layernorm(a, w, c, k), ROWS);
    close(await ctx.layernorm(a, w, c, m, k, 0.5), ref.layernorm(a, w, c, k, 0.5), ROWS);
    const [q, key, v] = [values(2 * k, 40), values(4 * k, 41), values(4 * 3, 42)];
    close(await ctx.attention(q, key, v, 2, 4, k, 3), ref.attention(q, key, v, 2, 4, k, 3), ATTENTION);
    close(await ctx.attention(q, key, v, 2, 4, k, 3, 2), ref.attention(q, key, v, 2, 4, k, 3, 2), ATTENTION);
  },
};

const NO_OPS = ['constructor', 'dispose'];
const words = new Set(
  Object.keys(named)
    .filter((name) => name.startsWith('Tensor.'))
    .flatMap((name) => name.match(/\w+/g)),
);

/**
 * A method of Tensor that no case above is named after must be an op of one or two tensors of one shape; any other op needs
 * a case. Its formula is held by the Rust tests: here no two ops give the same numbers, and one with the name of a function
 * of Math gives those of that function.
 */
async function others(env) {
  const ctx = await env.context();
  const members = Object.entries(Object.getOwnPropertyDescriptors(env.tw.Tensor.prototype));
  const methods = members.filter(([name, { value }]) => typeof value === 'function' && !NO_OPS.includes(name)).map(([name]) => name);
  const elementwise = methods.filter((op) => !words.has(op) || op in formulas);
  const [a, b] = [values(77, 42).map((v) => v * 3.9), positive(values(77, 43))];
  const [x, y] = [ctx.tensor(a, [7, 11]), ctx.tensor(b, [7, 11])];
  const [x16, y16] = [x.to('float16'), y.to('float16')];
  const [xHalf, yHalf] = [x16.to('float32'), y16.to('float32')];
  const none = ctx.empty([0, 4]);
  const seen = new Map();
  // All at once, so that the reads share their waits.
  await Promise.all(
    elementwise.map(async (op) => {
      try {
        const result = regular(op, x, y);
        const numbers = [...(await result.toArray())];
        await twice(() => regular(op, x, y), [7, 11], numbers);
        await twice(() => regular(op, x16, y16), [7, 11], [...(await regular(op, xHalf, yHalf).toArray())], EXACT);
        await check(regular(op, none, none), [0, 4], []);
        const twin = seen.get(numbers.join());
        ok(!twin, `it gives the numbers of Tensor.${twin}`);
        seen.set(numbers.join(), op);
        if (!(op in formulas) && Math[op]?.length === 1)
          await check(
            result,
            [7, 11],
            Array.from(a, (v) => Math[op](v)),
            TRANSCENDENTAL,
          );
      } catch (error) {
        throw new Error(
          `Tensor.${op} has ${words.has(op) ? 'a' : 'no'} case of its own; as an op of one or two tensors of one shape: ${error.message}`,
        );
      }
    }),
  );
}

export const ops = { ...named, 'Tensor: every other method is an op of one or two tensors': others };
