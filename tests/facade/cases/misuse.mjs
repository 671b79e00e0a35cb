// Every misuse throws a TensorError at the call, says the op and the shapes, and leaves the context working.

import { close, ok, rejects, same, throws } from '../expect.mjs';
import { values } from '../reference.mjs';

/** Numbers that look like counts and are none. */
const NOT_COUNTS = [-1, 1.5, NaN, Infinity, 2 ** 32, '2', null, {}];
const NOT_TENSORS = [undefined, null, 'x', 3, {}, [1, 2], new Float32Array(6)];

/** After a mistake the same context still gives right numbers. */
async function stillWorks(ctx) {
  close(await ctx.tensor([-1, 2], [2]).relu().toArray(), [0, 2]);
}

/** `T([2, 3])` is a fresh tensor of that shape. */
const maker = (ctx) => (shape) => ctx.tensor(values(shape.reduce((a, b) => a * b, 1)), shape);

// [op as a pattern, what it must name, call]
const mismatches = [
  ['mm', /2, ?3.*4, ?5/, (T) => T([2, 3]).mm(T([4, 5]))],
  ['mm_?bt', /2, ?3.*4, ?5/, (T) => T([2, 3]).mmBt(T([4, 5]))],
  ['mm', /\[6\]/, (T) => T([6]).mm(T([3, 2]))],
  ['add', /2, ?3.*2, ?4/, (T) => T([2, 3]).add(T([2, 4]))],
  ['sub', /2, ?3.*3\]/, (T) => T([2, 3]).sub(T([3]))],
  ['mul', /2, ?3.*2, ?1/, (T) => T([2, 3]).mul(T([2, 1]))],
  ['div', /2, ?3.*1\]/, (T) => T([2, 3]).div(T([1]))],
  ['mul_?scalar', /2/, (T) => T([2, 3]).mulScalar(T([2]))],
  ['add_?bias', /2, ?3.*4/, (T) => T([2, 3]).addBias(T([4]))],
  ['dup', /2, ?3.*5/, (T) => T([2, 3]).dup([5])],
  ['transpose2d', /2, ?3, ?4/, (T) => T([2, 3, 4]).transpose2d()],
  ['rmsnorm', /4.*3/, (T) => T([2, 3]).rmsnorm(T([4]))],
  ['layernorm', /4.*3/, (T) => T([2, 3]).layernorm(T([4]), T([3]))],
  ['layernorm', /4.*3/, (T) => T([2, 3]).layernorm(T([3]), T([4]))],
  ['add_?bias', /2, ?3.*4/, (T) => T([2, 3]).addBias(T([4]), 'gelu')],
  ['swiglu', /2, ?3.*2, ?4/, (T) => T([2, 3]).swiglu(T([2, 4]))],
  ['add_?rmsnorm', /3\].*2, ?3/, (T) => T([2, 3]).addRmsnorm(T([3]), T([3]))],
  ['add_?rmsnorm', /4.*3/, (T) => T([2, 3]).addRmsnorm(T([2, 3]), T([4]))],
  ['add_?layernorm', /4.*3/, (T) => T([2, 3]).addLayernorm(T([2, 3]), T([3]), T([4]))],
  ['append_?rope', /4 heads.*6/, (T, ctx) => ctx.kvCache(4, 6).appendRope(T([2, 6]), T([2, 6]), 4)],
  ['append_?rope', /head size of 3/, (T, ctx) => ctx.kvCache(4, 6).appendRope(T([2, 6]), T([2, 6]), 2)],
  ['append_?rope', /1, ?3/, (T, ctx) => ctx.kvCache(4, 2).appendRope(T([1, 3]), T([1, 3]), 1)],
  ['rope', /4 heads.*6/, (T) => T([2, 6]).rope(4)],
  ['rope_?off', /4 heads.*6/, (T) => T([2, 6]).ropeOff(4, 10000, 1)],
  ['attention', /2, ?3.*4, ?5/, (T) => T([2, 3]).attention(T([4, 5]), T([4, 2]))],
  ['attention', /4, ?3.*5, ?2/, (T) => T([2, 3]).attention(T([4, 3]), T([5, 2]))],
  ['mha_?causal', /5.*2/, (T) => T([2, 10]).mhaCausal(T([2, 4]), T([2, 4]), 5, 2)],
  ['mha_?causal', /3, ?4.*2, ?4/, (T) => T([2, 8]).mhaCausal(T([3, 4]), T([2, 4]), 4, 2)],
  ['mha_?causal_?off', /2, ?8.*3, ?4|5/, (T) => T([2, 8]).mhaCausalOff(T([3, 4]), T([3, 4]), 4, 2, 3)],
  ['mha_?decode', /2, ?8/, (T) => T([2, 8]).mhaDecode(T([3, 4]), T([3, 4]), 4, 2)],
  ['mha_?decode', /4/, (T) => T([1, 8]).mhaDecode(T([3, 4]), T([3, 4]), 4, 2, 4)],
  ['tensor', /5.*2, ?3|2, ?3.*5/, (T, ctx) => ctx.tensor(new Float32Array(5), [2, 3])],
  ['matmul', /5.*2.*3|2.*3.*5/, (T, ctx) => ctx.matmul(new Float32Array(5), new Float32Array(6), 2, 3, 2)],
  ['matmul_?bt', /5/, (T, ctx) => ctx.matmulBt(new Float32Array(5), new Float32Array(6), 2, 2, 3)],
  ['add', /6.*5/, (T, ctx) => ctx.add(new Float32Array(5), new Float32Array(6))],
  ['softmax', /5/, (T, ctx) => ctx.softmax(new Float32Array(5), 2, 3)],
  ['layernorm', /5/, (T, ctx) => ctx.layernorm(new Float32Array(5), new Float32Array(3), new Float32Array(3), 2, 3)],
  ['attention', /5/, (T, ctx) => ctx.attention(new Float32Array(5), new Float32Array(6), new Float32Array(6), 2, 2, 3, 3)],
  ['append', /1, ?3/, (T, ctx) => ctx.kvCache(4, 2).append(T([1, 3]), T([1, 3]))],
  ['append', /1, ?4.*2/, (T, ctx) => ctx.kvCache(4, 2).append(T([1, 4]), T([2, 2]))],
  ['append', /4\].*2/, (T, ctx) => ctx.kvCache(4, 2).append(T([2, 2]), T([4]))],
  ['append', /2, ?2.*1, ?2/, (T, ctx) => ctx.kvCache(4, 2).append(T([2, 2]), T([1, 2]))],
];

// [label, call with a bad count in one place]
const counted = [
  ['rope heads', (n, T) => T([2, 4]).rope(n)],
  ['ropeOff heads', (n, T) => T([2, 4]).ropeOff(n, 10000, 0)],
  ['ropeOff offset', (n, T) => T([2, 4]).ropeOff(1, 10000, n)],
  ['mhaDecode heads', (n, T) => T([1, 4]).mhaDecode(T([3, 4]), T([3, 4]), n, 1)],
  ['mhaDecode kvHeads', (n, T) => T([1, 4]).mhaDecode(T([3, 4]), T([3, 4]), 1, n)],
  ['mhaDecode s', (n, T) => T([1, 4]).mhaDecode(T([3, 4]), T([3, 4]), 1, 1, n)],
  ['mhaCausal heads', (n, T) => T([3, 4]).mhaCausal(T([3, 4]), T([3, 4]), n, 1)],
  ['mhaCausal kvHeads', (n, T) => T([3, 4]).mhaCausal(T([3, 4]), T([3, 4]), 1, n)],
  ['mhaCausalOff offset', (n, T) => T([1, 4]).mhaCausalOff(T([3, 4]), T([3, 4]), 1, 1, n)],
  ['kvCache capacity', (n, T, ctx) => ctx.kvCache(n, 2)],
  ['kvCache width', (n, T, ctx) => ctx.kvCache(2, n)],
  ['appendRope heads', (n, T, ctx) => ctx.kvCache(2, 2).appendRope(T([1, 2]), T([1, 2]), n)],
  ['truncate', (n, T, ctx) => ctx.kvCache(2, 2).truncate(n)],
  ['empty shape', (n, T, ctx) => ctx.empty([2, n])],
  ['tensor shape', (n, T, ctx) => ctx.tensor([1, 2], [2, n])],
  ['dup shape', (n, T) => T([2, 3]).dup([n, 3])],
  ['matmul m', (n, T, ctx) => ctx.matmul(new Float32Array(4), new Float32Array(4), n, 2, 2)],
  ['matmul k', (n, T, ctx) => ctx.matmul(new Float32Array(4), new Float32Array(4), 2, n, 2)],
  ['matmul n', (n, T, ctx) => ctx.matmul(new Float32Array(4), new Float32Array(4), 2, 2, n)],
  ['matmulBt m', (n, T, ctx) => ctx.matmulBt(new Float32Array(4), new Float32Array(4), n, 2, 2)],
  ['softmax d', (n, T, ctx) => ctx.softmax(new Float32Array(4), 2, n)],
  ['layernorm rows', (n, T, ctx) => ctx.layernorm(new Float32Array(4), new Float32Array(2), new Float32Array(2), n, 2)],
  ['attention rowsK', (n, T, ctx) => ctx.attention(new Float32Array(4), new Float32Array(4), new Float32Array(4), 2, n, 2, 2)],
];

// [label, call with something else in the place of a tensor]
const foreign = [
  ...['mm', 'mmBt', 'add', 'sub', 'mul', 'div', 'addBias', 'rmsnorm', 'swiglu', 'geglu', 'gegluTanh'].map((op) => [
    op,
    (x, T) => T([2, 3])[op](x),
  ]),
  ['addRmsnorm r', (x, T) => T([2, 3]).addRmsnorm(x, T([3]))],
  ['addLayernorm b', (x, T) => T([2, 3]).addLayernorm(T([2, 3]), T([3]), x)],
  ['appendRope v', (x, T, ctx) => ctx.kvCache(2, 2).appendRope(T([1, 2]), x, 1)],
  ['layernorm weight', (x, T) => T([2, 3]).layernorm(x, T([3]))],
  ['layernorm bias', (x, T) => T([2, 3]).layernorm(T([3]), x)],
  ['attention k', (x, T) => T([2, 3]).attention(x, T([2, 3]))],
  ['attention v', (x, T) => T([2, 3]).attention(T([2, 3]), x)],
  ['mhaDecode k', (x, T) => T([1, 4]).mhaDecode(x, T([3, 4]), 1, 1)],
  ['mhaDecode v', (x, T) => T([1, 4]).mhaDecode(T([3, 4]), x, 1, 1)],
  ['mhaCausal k', (x, T) => T([3, 4]).mhaCausal(x, T([3, 4]), 1, 1)],
  ['mhaCausalOff v', (x, T) => T([1, 4]).mhaCausalOff(T([3, 4]), x, 1, 1, 2)],
  ['append k', (x, T, ctx) => ctx.kvCache(2, 2).append(x, T([1, 2]))],
  ['append v', (x, T, ctx) => ctx.kvCache(2, 2).append(T([1, 2]), x)],
];

/** Every op as a call on tensors of `T`, with its other operands from `U`. */
const calls = (T, U = T) => ({
  silu: () => T([2, 3]).silu(),
  to: () => T([2, 3]).to('float16'),
  softmax: () => T([2, 3]).softmax(),
  relu: () => T([2, 3]).relu(),
  transpose2d: () => T([2, 3]).transpose2d(),
  dup: () => T([2, 3]).dup([6]),
  gather0: () => T([2, 3]).gather0([0]),
  rope: () => T([2, 4]).rope(1),
  mulScalarNumber: () => T([2, 3]).mulScalar(2),
  mm: () => T([2, 3]).mm(U([3, 2])),
  mmBt: () => T([2, 3]).mmBt(U([2, 3])),
  add: () => T([2, 3]).add(U([2, 3])),
  mulScalar: () => T([2, 3]).mulScalar(U([1])),
  addBias: () => T([2, 3]).addBias(U([3])),
  rmsnorm: () => T([2, 3]).rmsnorm(U([3])),
  swiglu: () => T([2, 3]).swiglu(U([2, 3])),
  addBiasGelu: () => T([2, 3]).addBias(U([3]), 'gelu'),
  addRmsnorm: () => T([2, 3]).addRmsnorm(U([2, 3]), U([3]))[0],
  addLayernorm: () => T([2, 3]).addLayernorm(U([2, 3]), U([3]), U([3]))[1],
  layernorm: () => T([2, 3]).layernorm(U([3]), U([3])),
  attention: () => T([2, 3]).attention(U([2, 3]), U([2, 3])),
  mhaDecode: () => T([1, 4]).mhaDecode(U([3, 4]), U([3, 4]), 1, 1),
  mhaCausal: () => T([3, 4]).mhaCausal(U([3, 4]), U([3, 4]), 1, 1),
  mhaCausalOff: () => T([1, 4]).mhaCausalOff(U([3, 4]), U([3, 4]), 1, 1, 2),
});
const UNARY = ['silu', 'to', 'softmax', 'relu', 'transpose2d', 'dup', 'gather0', 'rope', 'mulScalarNumber'];

export const misuse = {
  ...Object.fromEntries(
    mismatches.map(([op, shapes, call], i) => [
      `misuse: ${op.replaceAll('_?', '_')} with shapes that do not fit (${i + 1})`,
      async ({ context, TensorError }) => {
        const ctx = await context();
        throws(
          () => call(maker(ctx), ctx),
          TensorError,
          ['shape-mismatch', 'invalid-argument'],
          new RegExp(`^(?=[^]*${op})(?=[^]*(?:${shapes.source}))`, 'i'),
        );
        await stillWorks(ctx);
      },
    ]),
  ),
  ...Object.fromEntries(
    counted.map(([label, call]) => [
      `misuse: ${label} is no count`,
      async ({ context, TensorError }) => {
        const ctx = await context();
        for (const bad of NOT_COUNTS) throws(() => call(bad, maker(ctx), ctx), TensorError, 'invalid-argument');
        await stillWorks(ctx);
      },
    ]),
  ),
  ...Object.fromEntries(
    foreign.map(([label, call]) => [
      `misuse: ${label} is no tensor`,
      async ({ context, TensorError }) => {
        const ctx = await context();
        for (const bad of NOT_TENSORS) throws(() => call(bad, maker(ctx), ctx), TensorError, 'invalid-argument');
        await stillWorks(ctx);
      },
    ]),
  ),
  'misuse: data and shapes of the wrong kind': async ({ context, TensorError }) => {
    const ctx = await context();
    for (const bad of [undefined, null, 'abc', 3, {}]) throws(() => ctx.tensor(bad, [3]), TensorError, 'invalid-argument');
    for (const bad of [undefined, null, '3', 3, {}]) {
      throws(() => ctx.tensor([1, 2, 3], bad), TensorError, 'invalid-argument');
      throws(() => ctx.empty(bad), TensorError, 'invalid-argument');
      throws(() => ctx.tensor([1, 2, 3], [3]).dup(bad), TensorError, 'invalid-argument');
    }
    for (const bad of [undefined, null, 'abc', 3, {}]) throws(() => ctx.silu(bad), TensorError, 'invalid-argument');
    for (const bad of ['1', null, {}, undefined]) throws(() => ctx.tensor([1, 2], [2]).mulScalar(bad), TensorError, 'invalid-argument');
    for (const bad of ['1', null, {}]) {
      throws(() => ctx.tensor([1, 2], [1, 2]).rmsnorm(ctx.tensor([1, 2], [2]), bad), TensorError, 'invalid-argument');
      throws(
        () => ctx.tensor([1, 2], [1, 2]).addRmsnorm(ctx.tensor([1, 2], [1, 2]), ctx.tensor([1, 2], [2]), bad),
        TensorError,
        'invalid-argument',
      );
      throws(
        () => ctx.kvCache(1, 2).appendRope(ctx.tensor([1, 2], [1, 2]), ctx.tensor([1, 2], [1, 2]), 1, bad),
        TensorError,
        'invalid-argument',
      );
      throws(() => ctx.tensor([1, 2], [1, 2]).mmBt(ctx.tensor([1, 2], [1, 2]), bad), TensorError, 'invalid-argument');
    }
    for (const bad of ['tanh', '', 'Gelu', 1, 0, null, false, {}, ['gelu']]) {
      throws(
        () => ctx.tensor([1, 2], [2]).addBias(ctx.tensor([1, 2], [2]), bad),
        TensorError,
        'invalid-argument',
        /addBias: activation .*relu, silu, gelu, geluTanh/,
      );
    }
    await stillWorks(ctx);
  },
  'misuse: arrays that are not what they seem': async ({ context, TensorError }) => {
    const ctx = await context();
    const T = maker(ctx);
    ctx.tensor([777, 777, 777, 777], [4]).dispose(); // what a buffer that was never written would show
    const changing = new ArrayBuffer(32, { maxByteLength: 64 });
    new Float32Array(changing).set([1, 2, 3, 4]);
    close(await ctx.tensor(new Float32Array(changing, 0, 4), [4]).toArray(), [1, 2, 3, 4]);
    close(await ctx.tensor(new Float32Array(changing), [8]).toArray(), [1, 2, 3, 4, 0, 0, 0, 0]);
    close(await ctx.add(new Float32Array(changing, 4, 3), new Float32Array(changing, 0, 3)), [3, 5, 7]);
    const beyond = new Float32Array(changing, 16, 4);
    changing.resize(16);
    throws(() => ctx.tensor(beyond, [4]), TensorError, 'shape-mismatch');
    const shared = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }).buffer;
    new Float32Array(shared).set([5, 6]);
    close(await ctx.tensor(new Float32Array(shared, 0, 2), [2]).toArray(), [5, 6]);
    const detached = Float32Array.of(1, 2);
    structuredClone(detached, { transfer: [detached.buffer] });
    throws(() => ctx.tensor(detached, [2]), TensorError, 'shape-mismatch');
    class Floats extends Float32Array {
      get length() {
        return 4;
      }
    }
    class Ids extends Uint32Array {
      get length() {
        return 1;
      }
    }
    throws(() => ctx.tensor(new Floats(2), [4]), TensorError, 'shape-mismatch');
    close(await T([2, 2]).gather0(new Ids(3)).toArray(), await T([2, 2]).gather0([0, 0, 0]).toArray());
    const frame = document.createElement('iframe');
    document.body.append(frame);
    close(await ctx.tensor(new frame.contentWindow.Float32Array([1, 2]), [2]).toArray(), [1, 2]);
    frame.remove();
    for (const wrap of [(x) => new Proxy(x, {}), (x) => Object.create(Object.getPrototypeOf(x))]) {
      throws(() => ctx.tensor(wrap(new Float32Array(2)), [2]), TensorError, 'invalid-argument');
      throws(() => ctx.silu(wrap(new Float32Array(2))), TensorError, 'invalid-argument');
      throws(() => ctx.add(wrap(new Float32Array(2)), new Float32Array(2)), TensorError, 'invalid-argument');
      throws(() => ctx.empty(wrap(new Uint32Array(2))), TensorError, 'invalid-argument');
      throws(() => T([2, 2]).gather0(wrap(new Uint32Array(2))), TensorError, 'invalid-argument');
      throws(() => T([2]).relu.call(wrap(T([2]))), TensorError, 'invalid-argument');
      throws(() => T([2]).toArray.call(wrap(T([2]))), TensorError, 'invalid-argument');
      throws(() => T([2]).mulScalar.call(wrap(T([2])), 2), TensorError, 'invalid-argument');
    }
    throws(() => ctx.tensor(new Array(2 ** 32 - 1), [3]), TensorError, 'invalid-argument');
    throws(() => ctx.tensor(Object.assign(new Array(3), { 0: 1, 2: 3 }), [3]), TensorError, 'invalid-argument');
    throws(() => ctx.empty(new Array(2 ** 32 - 1)), TensorError, ['invalid-argument', 'limit-exceeded']);
    throws(() => ctx.empty(new Uint32Array(2 ** 26)), TensorError, 'limit-exceeded');
    throws(() => T([1, 1]).gather0(new Uint32Array(2 ** 28 + 1)), TensorError, 'limit-exceeded');
    same(ctx.empty([...new Array(40).fill(2 ** 32 - 1), 0]).size, 0, 'size');
    for (const bad of [1e39, -1e300]) {
      throws(() => T([1, 2]).mmBt(T([1, 2]), bad), TensorError, 'invalid-argument');
      throws(() => T([1, 2]).rmsnorm(T([2]), bad), TensorError, 'invalid-argument');
      throws(() => T([1, 2]).attention(T([1, 2]), T([1, 2]), bad), TensorError, 'invalid-argument');
    }
    await stillWorks(ctx);
  },
  'misuse: what is no dtype, no half and no float': async ({ context, TensorError }) => {
    const ctx = await context();
    const x = ctx.tensor([1, 2], [2]);
    for (const bad of [undefined, null, 'f16', 'int8', 16, {}, ['float16']])
      throws(() => x.to(bad), TensorError, 'invalid-argument', /^to: .*float16/);
    for (const bad of [null, 'f16', 16, {}]) throws(() => ctx.kvCache(2, 2, bad), TensorError, 'invalid-argument', /^kvCache: .*float16/);
    for (const bad of [undefined, null, 'x', 3, {}, new Int16Array(2), new Uint32Array(2), new Float64Array(2), [1, '2'], x])
      throws(() => ctx.tensorF16(bad, [2]), TensorError, 'invalid-argument', /^tensorF16: /);
    for (const bad of [Float32Array.of(1, 2, 3), Uint16Array.of(1, 2, 3), [1, 2, 3]])
      throws(() => ctx.tensorF16(bad, [2, 2]), TensorError, 'shape-mismatch', /^tensorF16: .*3.*2, 2/);
    throws(() => ctx.tensorF16(Uint16Array.of(1), [-1]), TensorError, 'invalid-argument');
    await stillWorks(ctx);
  },
  'misuse: a gather id outside the table throws before any dispatch': async ({ context, TensorError, spy }) => {
    const ctx = await context();
    const table = ctx.tensor(values(12), [4, 3]);
    await table.toArray();
    spy.reset();
    throws(() => table.gather0([0, 4]), TensorError, 'index-out-of-range', /4/);
    throws(() => table.gather0([2 ** 32 - 1]), TensorError, 'index-out-of-range', /4294967295/);
    throws(() => table.gather0(Uint32Array.of(7)), TensorError, 'index-out-of-range', /7/);
    for (const bad of [[-1], [1.5], [NaN], [2 ** 32], ['1']])
      throws(() => table.gather0(bad), TensorError, ['invalid-argument', 'index-out-of-range']);
    for (const bad of [undefined, null, 'x', 1, {}]) throws(() => table.gather0(bad), TensorError, 'invalid-argument');
    same(spy.n.dispatch, 0, 'dispatches');
    await stillWorks(ctx);
  },
  'misuse: fifty mistakes in a row leave the context working': async ({ context, TensorError }) => {
    const ctx = await context();
    const [a, b] = [ctx.tensor(values(6), [2, 3]), ctx.tensor(values(20), [4, 5])];
    for (let i = 0; i < 50; i++) throws(() => a.mm(b), TensorError, 'shape-mismatch', /2.*3.*4.*5/);
    await stillWorks(ctx);
  },
  'misuse: disposed tensors': async ({ context, TensorError }) => {
    const ctx = await context();
    const T = maker(ctx);
    const gone = (shape) => {
      const x = T(shape);
      x.dispose();
      same(x.disposed, true, 'disposed');
      x.dispose();
      x[Symbol.dispose]?.();
      return x;
    };
    for (const call of Object.values(calls(gone, T))) throws(call, TensorError, 'disposed');
    for (const [op, call] of Object.entries(calls(T, gone))) if (!UNARY.includes(op)) throws(call, TensorError, 'disposed');
    throws(() => gone([2]).toArray(), TensorError, 'disposed');
    const cache = ctx.kvCache(2, 2);
    cache.dispose();
    throws(() => cache.append(T([1, 2]), T([1, 2])), TensorError, 'disposed');
    throws(() => cache.appendRope(T([1, 2]), T([1, 2]), 1), TensorError, 'disposed');
    throws(() => cache.k, TensorError, 'disposed');
    throws(() => cache.truncate(0), TensorError, 'disposed');
    const many = Array.from({ length: 1000 }, (_, i) => ctx.tensor([i, -i], [2])); // a double free must hit no other handle
    const read = await Promise.all(many.map((x) => x.toArray()));
    read.forEach((x, i) => close(x, [i, -i]));
    many.forEach((x) => x.dispose());
  },
  'misuse: tensors of another context': async ({ context, tw, TensorError }) => {
    const [ctx, other] = [await context(), await tw.Context.create()];
    const [T, U] = [maker(ctx), maker(other)];
    for (const [op, call] of Object.entries(calls(T, U))) if (!UNARY.includes(op)) throws(call, TensorError, 'wrong-context');
    const row = U([1, 2]);
    throws(() => ctx.kvCache(2, 2).append(row, row), TensorError, 'wrong-context');
    close(await row.toArray(), [...values(2)]);
    other.destroy();
    await stillWorks(ctx);
  },
  'misuse: tensors of another copy of the package': async ({ context, TensorError }) => {
    const ctx = await context();
    const copy = await import('/copy/index.js');
    const other = await copy.Context.create();
    const [T, U] = [maker(ctx), maker(other)];
    for (const [op, call] of Object.entries(calls(T, U)))
      if (!UNARY.includes(op)) throws(call, TensorError, ['invalid-argument', 'wrong-context'], /cop(y|ies)|twice/i);
    throws(() => U([2, 3]).mm(T([3, 2])), copy.TensorError, ['invalid-argument', 'wrong-context'], /cop(y|ies)|twice/i);
    close(
      await U([2]).relu().toArray(),
      values(2).map((v) => Math.max(v, 0)),
    );
    other.destroy();
    await stillWorks(ctx);
  },
  'misuse: constructors are not for users': async ({ tw, TensorError }) => {
    for (const type of ['Context', 'Tensor', 'KvCache']) {
      let made;
      try {
        made = new tw[type]();
      } catch (error) {
        ok(error instanceof Error, 'not an Error');
      }
      if (made && type === 'Tensor') throws(() => made.relu(), TensorError, ['disposed', 'invalid-argument']);
    }
  },
  'misuse: adapters that do not exist': async ({ tw, TensorError }) => {
    const called = (n) => new Promise((resolve) => resolve(tw.Context.forAdapter(n)));
    for (const bad of NOT_COUNTS.concat(undefined)) await rejects(called(bad), TensorError, 'invalid-argument');
    await rejects(called(999), TensorError, ['no-adapter', 'index-out-of-range', 'invalid-argument'], /999/);
  },
};
