// Every message of the facade begins with the op, and shows the value given and what was expected.

import { rejects, throws } from '../expect.mjs';

const COUNT = 'a whole number from 0 to 2^32 - 1 is expected';
const FINITE = 'a number that is finite as a 32-bit float is expected';
const TENSOR = 'a Tensor is expected';
const FLOATS = 'a Float32Array is expected';
const DTYPE = "'float32' or 'float16' is expected";

/** What is called, and all it must say. `ctx` is a context, `x` a tensor of shape [2, 3], `cache` one of shape [4, 2]. */
const thrown = [
  [({ ctx }) => ctx.tensor('1, 2', [2]), 'tensor: data is "1, 2", but a Float32Array or an array of numbers is expected'],
  [
    ({ ctx }) => ctx.tensor(Float64Array.of(1, 2), [2]),
    'tensor: data is Float64Array [1, 2], but a Float32Array or an array of numbers is expected',
  ],
  [({ ctx }) => ctx.tensor([1, '2'], [2]), 'tensor: data[1] is "2", but a number is expected'],
  [({ ctx }) => ctx.tensor([1], 1), 'tensor: shape is 1, but an array of whole numbers or a Uint32Array is expected'],
  [
    ({ ctx }) => ctx.tensor([1], Int32Array.of(1)),
    'tensor: shape is Int32Array [1], but an array of whole numbers or a Uint32Array is expected',
  ],
  [({ ctx }) => ctx.tensor([1], [1, -1]), `tensor: shape[1] is -1, but ${COUNT}`],
  [({ ctx }) => ctx.tensor([1], [[1]]), `tensor: shape[0] is [1], but ${COUNT}`],
  [({ ctx }) => ctx.empty({ rows: 2 }), 'empty: shape is { rows: 2 }, but an array of whole numbers or a Uint32Array is expected'],
  [
    ({ ctx }) => ctx.empty(new Uint32Array(2 ** 20 + 1)),
    'empty: shape has 1048577 numbers, but at most 1048576 are taken',
    'limit-exceeded',
  ],
  [
    ({ ctx }) => ctx.tensorF16(new Int16Array(2), [2]),
    'tensorF16: data is Int16Array [0, 0], but a Float32Array, Float16Array, Uint16Array or an array of numbers is expected',
  ],
  [({ ctx }) => ctx.tensorF16([1, null], [2]), 'tensorF16: data[1] is null, but a number is expected'],
  [({ x }) => x.gather0([0, 1.5]), `gather0: idx[1] is 1.5, but ${COUNT}`],
  [({ x }) => x.gather0(1), 'gather0: idx is 1, but an array of whole numbers or a Uint32Array is expected'],
  [({ x }) => x.mm([1, 2]), `mm: b is [1, 2], but ${TENSOR}`],
  [({ x }) => x.mm(Promise.resolve(x)), `mm: b is a Promise (is an await missing?), but ${TENSOR}`],
  [({ x, cache }) => x.mm(cache), `mm: b is a KvCache, but ${TENSOR}`],
  [({ x }) => x.mmBt(x, '2'), `mmBt: scale is "2", but ${FINITE}`],
  [({ x }) => x.mmBt(x, 1e39), `mmBt: scale is 1e+39, but ${FINITE}`],
  [({ x }) => x.mulScalar('2'), 'mulScalar: s is "2", but a number or a Tensor is expected'],
  [({ x }) => x.to('f16'), `to: dtype is "f16", but ${DTYPE}`],
  [({ x }) => x.addBias(x, 'tanh'), 'addBias: activation is "tanh", but one of relu, silu, gelu, geluTanh is expected'],
  [({ x }) => x.rope(1.5), `rope: heads is 1.5, but ${COUNT}`],
  [({ x }) => x.ropeOff(1, undefined, 0), `ropeOff: base is undefined, but ${FINITE}`],
  [({ x }) => x.mhaDecode(x, x, 1, 1, NaN), `mhaDecode: s is NaN, but ${COUNT}`],
  [({ x }) => x.relu.call({}), `relu: this is {}, but ${TENSOR}`],
  [({ x }) => x.toArray.call(undefined), `toArray: this is undefined, but ${TENSOR}`],
  [
    ({ x }) => x.relu.call(new Proxy(x, {})),
    /^relu: this is .*, but a Tensor is expected \(is it wrapped in a Proxy, or the package loaded twice\?\)$/,
  ],
  [({ gone }) => gone.relu(), 'relu: this, of shape [5], was disposed', 'disposed'],
  [({ x, gone }) => x.add(gone), 'add: b, of shape [5], was disposed', 'disposed'],
  [({ lost }) => lost.truncate(0), 'truncate: the cache, of shape [3, 7], was disposed', 'disposed'],
  [({ cache, x }) => cache.append(x, x), 'append: k has shape [2, 3] and v [2, 3], but [t, 2] is expected', 'shape-mismatch'],
  [({ cache }) => cache.append(1, 2), `append: k is 1, but ${TENSOR}`],
  [({ cache, row }) => cache.appendRope(row, row, '1'), `appendRope: heads is "1", but ${COUNT}`],
  [({ cache, row }) => cache.appendRope(row, row, 1, Infinity), `appendRope: base is Infinity, but ${FINITE}`],
  [({ cache }) => cache.truncate(-1), `truncate: length is -1, but ${COUNT}`],
  [({ cache, row }) => cache.append.call(row, row, row), 'append: this is a Tensor of shape [1, 2], but a KvCache is expected'],
  [({ ctx }) => ctx.kvCache(4, 2.5), `kvCache: width is 2.5, but ${COUNT}`],
  [({ ctx }) => ctx.kvCache(4, 2, 16), `kvCache: dtype is 16, but ${DTYPE}`],
  [({ ctx }) => ctx.tensor.call(undefined, [1], [1]), 'tensor: this is undefined, but a Context is expected'],
  [({ ctx }) => ctx.memory.call({}), 'memory: this is {}, but a Context is expected'],
  [({ ctx }) => ctx.silu([1, 2]), `silu: x is [1, 2], but ${FLOATS}`],
  [({ ctx }) => ctx.add(undefined, new Float32Array(1)), `add: a is undefined, but ${FLOATS}`],
  [({ ctx }) => ctx.add(new Float32Array(2), 3), `add: b is 3, but ${FLOATS}`],
  [({ ctx }) => ctx.add(new Float32Array(2), new Float32Array(3)), 'add: b has 3 values, but shape [2] holds 2', 'shape-mismatch'],
  [
    ({ ctx }) => ctx.matmul(new Float32Array(5), new Float32Array(6), 2, 3, 2),
    'matmul: a has 5 values, but shape [2, 3] holds 6',
    'shape-mismatch',
  ],
  [({ ctx }) => ctx.softmax(new Float32Array(4), 2, '2'), `softmax: d is "2", but ${COUNT}`],
  [({ ctx }) => ctx.matmulBt(new Float32Array(1), new Float32Array(1), 1, 1, 1, NaN), /^\w+: scale is NaN, but a number that is finite/],
  [({ ctx }) => ctx.warmup('mm'), 'warmup: ops is "mm", but an array of names of ops is expected'],
  [({ ctx }) => ctx.warmup(['mm', 1]), 'warmup: ops[1] is 1, but the name of an op is expected'],
  [({ ctx }) => ctx.warmup([], () => {}), 'warmup: options is a function, but an object is expected'],
  [({ ctx }) => ctx.warmup([], { onProgress: 1 }), 'warmup: onProgress is 1, but a function is expected'],
  [({ ctx, x }) => ctx.scope(x), 'scope: f is a Tensor of shape [2, 3], but a function is expected'],
  [({ ctx }) => ctx.scope(async () => {}), 'scope: f gave a Promise, but a scope ends when its function returns: await outside of it'],
  [({ tw }) => new tw.Tensor(), 'Tensor: new Tensor() is not for users: tensors come from a Context and from ops'],
  [({ tw }) => new tw.KvCache(), 'KvCache: new KvCache() is not for users: caches come from ctx.kvCache()'],
  [({ tw }) => new tw.Context(), 'Context: new Context() is not for users: contexts come from Context.create() and forAdapter()'],
];

const SOURCES = 'a URL, Request, Response, bytes or WebAssembly.Module is expected';

/** The same of the package's own functions, in a copy that was never initialised. */
const rejected = [
  [({ Context }) => Context.create('low-power'), 'Context.create: options is "low-power", but an object is expected'],
  [
    ({ Context }) => Context.create({ powerPreference: 'fast' }),
    "Context.create: powerPreference is \"fast\", but 'high-performance' or 'low-power' is expected",
  ],
  [({ Context }) => Context.forAdapter('0'), `Context.forAdapter: index is "0", but ${COUNT}`],
  [({ init }) => init('x.wasm'), 'init: options is "x.wasm", but an object is expected'],
  [({ init }) => init({ wasm: 3 }), `init: wasm is 3, but ${SOURCES}`],
  [({ init }) => init({ wasm: { path: 'x' } }), `init: wasm is { path: "x" }, but ${SOURCES}`],
  [({ init }) => init({ wasm: '/nowhere/x.wasm' }), /^init: could not load the wasm from .*\/nowhere\/x.wasm: HTTP 404$/, 'wasm-load'],
  [
    ({ init }) => init({ wasm: '/tests/index.html' }),
    /^init: what was loaded from .*\/tests\/index.html is not wasm: it begins with 3c 21 64 6f, but 00 61 73 6d is expected \(.*page.*\)$/,
    'wasm-load',
  ],
  [
    ({ init }) => init({ wasm: Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0) }),
    'init: the wasm given exports nothing, but that of tensorweft is expected',
    'wasm-load',
  ],
];

const labelled = (text) => `message: ${typeof text === 'string' ? text : text.source}`;

/** The message is exactly a text, or matches. */
const exactly = (text) => (typeof text === 'string' ? new RegExp(`^${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`) : text);

async function fixtures({ context, tw }) {
  const ctx = await context();
  const [x, row, gone] = [ctx.empty([2, 3]), ctx.empty([1, 2]), ctx.empty([5])];
  const [cache, lost] = [ctx.kvCache(4, 2), ctx.kvCache(3, 7)];
  gone.dispose();
  lost.dispose();
  return { ctx, x, row, gone, cache, lost, tw };
}

export const messages = Object.fromEntries([
  ...thrown.map(([call, text, code = 'invalid-argument']) => [
    labelled(text),
    async (env) => {
      const given = await fixtures(env);
      throws(() => call(given), env.TensorError, code, exactly(text));
    },
  ]),
  ...rejected.map(([call, text, code = 'invalid-argument']) => [
    labelled(text),
    async () => {
      const copy = await import('/messages/index.js');
      await rejects(call(copy), copy.TensorError, code, exactly(text));
    },
  ]),
]);
