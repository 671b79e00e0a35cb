// The facade of the npm package: checks the types and numbers of every argument, names errors, and owns handles.
// Shapes are checked and everything is computed on the other side, in wasm.

import load, * as wasm from './tensorweft.js';

/** An error of this package. `code` is stable; the message names the op and the shapes. */
export class TensorError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = 'TensorError';
    this.code = code;
  }
}

const fail = (op, code, why) => {
  throw new TensorError(code, `${op}: ${why}`);
};

// === Loading ===

let exports;
let loading;

/** Loads the wasm once. `Context.create()` calls it; a failed try can be repeated. */
export function init(options) {
  return (loading ??= start(options).catch((error) => {
    loading = undefined;
    throw error;
  }));
}

async function start(options) {
  const source = options?.wasm ?? new URL('tensorweft_bg.wasm', import.meta.url);
  try {
    const given = await code(await source);
    const module = given instanceof WebAssembly.Module ? given : await WebAssembly.compile(given);
    // The glue keeps the first module that starts, whatever it is.
    if (!WebAssembly.Module.exports(module).some(({ name }) => name === 'setup')) {
      throw new TensorError('wasm-load', 'init: the given wasm is not that of tensorweft');
    }
    exports = await load({ module_or_path: module });
  } catch (error) {
    if (error instanceof TensorError) throw error;
    throw new TensorError('wasm-load', `init: the wasm could not be started: ${error?.message ?? error}`, { cause: error });
  }
  wasm.setup((code, message) => new TensorError(code, message));
}

/** The bytes or module behind whatever `init` was given. */
async function code(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const response = source instanceof Response ? source : await request(source);
  if (response instanceof Uint8Array) return response;
  const from = response.url || 'the given response';
  const moved = from.includes('/.vite/deps/') ? "; Vite before 8 moves the module away from its wasm: set optimizeDeps.exclude to ['tensorweft']" : '';
  if (!response.ok) throw new TensorError('wasm-load', `init: could not load the wasm from ${from}: HTTP ${response.status}${moved}`);
  // Not by streaming: that refuses every MIME type but one, and the file is small.
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!(bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d)) {
    const html = bytes[0] === 0x3c ? ' (the server answered with a page; is the path right?)' : '';
    throw new TensorError('wasm-load', `init: what was loaded from ${from} is not wasm${html}${moved}`);
  }
  return bytes;
}

async function request(source) {
  const url = String(source.url ?? source);
  const fs = url.startsWith('file:') && globalThis.process?.getBuiltinModule?.('node:fs');
  try {
    return fs ? new Uint8Array(fs.readFileSync(new URL(url))) : await fetch(source);
  } catch (error) {
    throw new TensorError('wasm-load', `init: could not load the wasm from ${url}: ${error?.message ?? error}`, { cause: error });
  }
}

/** WebGPU is asked for before anything is loaded. */
function needWebGpu(op) {
  if (globalThis.navigator?.gpu) return;
  fail(
    op,
    'no-webgpu',
    globalThis.isSecureContext === false
      ? 'WebGPU needs a secure page: serve it over https or from localhost'
      : 'WebGPU is not available here: use a current browser with WebGPU switched on',
  );
}

// === Arguments ===

/** Passed by this module alone to the constructors, which are not for users. */
const KEY = Symbol();

function ours(key, name) {
  if (key !== KEY) fail(name, 'invalid-argument', `use the methods of Context; ${name} has no public constructor`);
}

function u32(op, name, value) {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  return fail(op, 'invalid-argument', `${name} is ${show(value)}, but a whole number from 0 to 2^32 - 1 is expected`);
}

function finite(op, name, value) {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
  return fail(op, 'invalid-argument', `${name} is ${show(value)}, but a finite number is expected, as a 32-bit float too`);
}

/** The name of a typed array's type, also of one from another window; `undefined` for everything else, proxies too. */
const typeOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;

/** Whole numbers are copied by wasm, so there is a most; shapes have no business near theirs. */
const DIMENSIONS_MAX = 2 ** 20;
const IDS_MAX = 2 ** 28;

function u32s(op, name, values, most = DIMENSIONS_MAX) {
  const typed = typeOf.call(values) === 'Uint32Array';
  if (!typed && !Array.isArray(values)) fail(op, 'invalid-argument', `${name} is ${show(values)}, but an array of whole numbers is expected`);
  if (values.length > most) fail(op, 'limit-exceeded', `${name} has ${values.length} numbers, but ${most} is the most`);
  return typed ? new Uint32Array(values) : checked(Uint32Array, values, (value, i) => u32(op, `${name}[${i}]`, value));
}

function f32s(op, name, values) {
  if (typeOf.call(values) === 'Float32Array') return steady(values);
  if (!Array.isArray(values)) fail(op, 'invalid-argument', `${name} is ${show(values)}, but a Float32Array is expected`);
  return checked(Float32Array, values, (value, i) =>
    typeof value === 'number' ? value : fail(op, 'invalid-argument', `${name}[${i}] is ${show(value)}, but a number is expected`),
  );
}

/** WebGPU takes no views of buffers that can change their size; a copy of one it takes. */
function steady(values) {
  const { buffer } = values;
  const plain = Object.getPrototypeOf(values) === Float32Array.prototype && !buffer.resizable && !buffer.growable;
  if (plain) return values;
  return new Float32Array(values.length === 0 ? 0 : values); // a view beyond the end of its buffer cannot be copied
}

/** The bits of halves, in whole words. */
function halves(values) {
  const { buffer, byteOffset, length } = values;
  const bits = length === 0 ? [] : new Uint16Array(buffer, byteOffset, length);
  if (length > 0 && length % 2 === 0 && !buffer.resizable && !buffer.growable) return bits;
  const words = new Uint16Array(length + (length % 2));
  words.set(bits);
  return words;
}

/** The shape of a flat array; what is none is refused later, with its name. */
const flat = (values) => [typeOf.call(values) === undefined ? 0 : values.length];

/** A typed array of what `check` lets through; made once the first value has passed, since sparse arrays may be endless. */
function checked(Type, values, check) {
  let all = new Type(0);
  for (let i = 0; i < values.length; i++) {
    const value = check(values[i], i);
    if (i === 0) all = new Type(values.length);
    all[i] = value;
  }
  return all;
}

function className(value) {
  try {
    return value.constructor.name;
  } catch {
    return 'no class';
  }
}

function show(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return `an object of ${className(value)}`;
  return typeof value === 'function' ? 'a function' : String(value);
}

/** How each kind of argument of an op is checked; `wasm` takes what comes out. */
const tensor = (name) => (op, value) => handleOf(op, name, value);
const whole = (name) => (op, value) => u32(op, name, value);
const number = (name, otherwise) => (op, value) => finite(op, name, value === undefined ? otherwise : value);
/** NaN stands for what only the shapes tell. */
const optional = (check) => (op, value) => (value === undefined ? NaN : check(op, value));

/** One of a few names, as its place among them from 1 on; 0 for none. */
const oneOf = (name, ...names) => (op, value) => {
  if (value === undefined) return 0;
  return names.indexOf(value) + 1 || fail(op, 'invalid-argument', `${name} is ${show(value)}, but one of ${names.join(', ')} is expected`);
};
const F32 = 'float32';
const F16 = 'float16';

/** Whether a dtype is float16. */
function isHalf(op, dtype) {
  if (dtype === F32 || dtype === F16) return dtype === F16;
  return fail(op, 'invalid-argument', `dtype is ${show(dtype)}, but '${F32}' or '${F16}' is expected`);
}

const OPS = {
  mm: [tensor('b')],
  mmBt: [tensor('b'), number('scale', 1)],
  silu: [],
  sigmoid: [],
  sqrt: [],
  gelu: [],
  geluTanh: [],
  relu: [],
  add: [tensor('b')],
  sub: [tensor('b')],
  mul: [tensor('b')],
  div: [tensor('b')],
  addBias: [tensor('bias'), oneOf('activation', 'relu', 'silu', 'gelu', 'geluTanh')],
  swiglu: [tensor('up')],
  geglu: [tensor('up')],
  gegluTanh: [tensor('up')],
  to: [isHalf],
  dup: [(op, shape) => u32s(op, 'shape', shape)],
  gather0: [(op, idx) => u32s(op, 'idx', idx, IDS_MAX)],
  transpose2d: [],
  softmax: [],
  rmsnorm: [tensor('w'), number('eps', 1e-5)],
  layernorm: [tensor('w'), tensor('b'), number('eps', 1e-5)],
  addRmsnorm: [tensor('r'), tensor('w'), number('eps', 1e-5)],
  addLayernorm: [tensor('r'), tensor('w'), tensor('b'), number('eps', 1e-5)],
  rope: [whole('heads'), number('base', 10000)],
  ropeOff: [whole('heads'), number('base'), whole('offset')],
  mhaDecode: [tensor('k'), tensor('v'), whole('heads'), whole('kvHeads'), optional(whole('s'))],
  mhaCausal: [tensor('k'), tensor('v'), whole('heads'), whole('kvHeads')],
  mhaCausalOff: [tensor('k'), tensor('v'), whole('heads'), whole('kvHeads'), whole('offset')],
  attention: [tensor('k'), tensor('v'), optional(number('scale'))],
};

// === Handles ===

/** Nets for handles that nobody disposed of. Registering costs as much as an op, and what an open scope owns needs none. */
const nets = {
  Tensor: new FinalizationRegistry((handle) => wasm.free(handle)),
  KvCache: new FinalizationRegistry((handle) => wasm.cacheFree(handle)),
  Context: new FinalizationRegistry((handle) => wasm.contextFree(handle)),
};

let quickShape;

/** The shape of the last result: rank, dimensions and dtype lie at a fixed place of wasm memory. */
function lastShape(handle) {
  // A view is empty once wasm memory has grown.
  if (!quickShape?.length) quickShape = new Uint32Array(exports.memory.buffer, wasm.shapeAddress(), 10);
  const rank = quickShape[0];
  if (rank > 8) return Object.freeze(Array.from(wasm.shapeOf(handle)));
  const shape = [];
  for (let i = 1; i <= rank; i++) shape.push(quickShape[i]);
  return Object.freeze(shape);
}

let handleOf;
let makeTensor;

/** Row-major values on the GPU. */
export class Tensor {
  #context;
  #handle;
  #shape;
  #dtype;

  constructor(key, context, handle) {
    ours(key, 'Tensor');
    this.#context = context;
    this.#handle = handle;
    this.#shape = lastShape(handle);
    this.#dtype = quickShape[9] === 1 ? F16 : F32;
    context[KEY].made(this);
  }

  static {
    makeTensor = (context, handle) => new Tensor(KEY, context, handle);

    handleOf = (op, name, value) => {
      if (typeof value !== 'object' || value === null || !(#handle in value)) {
        const why = className(value) === 'Tensor' ? ' (is it wrapped in a Proxy, or the package loaded twice?)' : '';
        fail(op, 'invalid-argument', `${name} is ${show(value)}, but a Tensor is expected${why}`);
      }
      return value.#live(op, name);
    };

    for (const [name, checks] of Object.entries(OPS)) {
      const run = wasm[name];
      // Written out: a list a call would cost more than the call.
      const [one, two, three, four, five] = checks;
      const method = {
        [name](a, b, c, d, e) {
          const x = handleOf(name, 'this', this);
          const context = this.#context;
          const made = run(context[KEY].handle, x, one?.(name, a), two?.(name, b), three?.(name, c), four?.(name, d), five?.(name, e));
          if (typeof made === 'number') return new Tensor(KEY, context, made);
          return Array.from(made, (y) => new Tensor(KEY, context, y));
        },
      };
      Object.defineProperty(Tensor.prototype, name, { value: method[name], writable: true, configurable: true });
    }
  }

  /** What nobody owns goes with its last reference. */
  [KEY]() {
    nets.Tensor.register(this, this.#handle, this);
  }

  #live(op, name) {
    if (this.#handle === undefined) fail(op, 'disposed', `${name} of shape [${this.#shape.join(', ')}] was disposed`);
    return this.#handle;
  }

  get shape() {
    return this.#shape;
  }

  get size() {
    return this.#shape.includes(0) ? 0 : this.#shape.reduce((size, d) => size * d, 1);
  }

  get dtype() {
    return this.#dtype;
  }

  get disposed() {
    return this.#handle === undefined;
  }

  mulScalar(s) {
    const op = 'mulScalar';
    const handle = handleOf(op, 'this', this);
    const context = this.#context[KEY].handle;
    const y = typeof s === 'number' ? wasm.scale(context, handle, s) : wasm.mulScalar(context, handle, handleOf(op, 's', s));
    return new Tensor(KEY, this.#context, y);
  }

  toArray() {
    const handle = handleOf('toArray', 'this', this);
    return wasm.read(this.#context[KEY].handle, handle);
  }

  dispose() {
    if (this.#handle === undefined) return;
    nets.Tensor.unregister(this);
    wasm.free(this.#handle);
    this.#handle = undefined;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

/** Rows of keys and values that grow on the GPU. */
export class KvCache {
  #context;
  #handle;
  #capacity;
  #width;
  #k;
  #v;

  constructor(key, context, handle, capacity, width) {
    ours(key, 'KvCache');
    this.#context = context;
    this.#handle = handle;
    this.#capacity = capacity;
    this.#width = width;
    context[KEY].made(this);
  }

  [KEY]() {
    nets.KvCache.register(this, this.#handle, this);
  }

  #live(op) {
    if (this.#handle === undefined) fail(op, 'disposed', `the cache of capacity ${this.#capacity} was disposed`);
    return this.#handle;
  }

  get length() {
    return wasm.cacheLength(this.#live('length'));
  }

  get capacity() {
    return this.#capacity;
  }

  // One tensor for each half, as long as the caller keeps it: it shows what later appends write.
  get k() {
    const handle = this.#live('k');
    if (!this.#k || this.#k.disposed) this.#k = this.#context[KEY].aside(() => makeTensor(this.#context, wasm.cacheK(handle)));
    return this.#k;
  }

  get v() {
    const handle = this.#live('v');
    if (!this.#v || this.#v.disposed) this.#v = this.#context[KEY].aside(() => makeTensor(this.#context, wasm.cacheV(handle)));
    return this.#v;
  }

  /** The handles of an append, checked. */
  #rows(op, k, v) {
    const handles = [this.#live(op), handleOf(op, 'k', k), handleOf(op, 'v', v)];
    if ([k, v].some(({ shape }) => shape.length !== 2 || shape[1] !== this.#width)) {
      fail(op, 'shape-mismatch', `k has shape [${k.shape.join(', ')}] and v [${v.shape.join(', ')}], but [t, ${this.#width}] is expected`);
    }
    return handles;
  }

  append(k, v) {
    wasm.cacheAppend(...this.#rows('append', k, v));
  }

  appendRope(k, v, heads, base = 10000) {
    const op = 'appendRope';
    wasm.cacheAppendRope(...this.#rows(op, k, v), u32(op, 'heads', heads), finite(op, 'base', base));
  }

  truncate(length) {
    wasm.cacheTruncate(this.#live('truncate'), u32('truncate', 'length', length));
  }

  dispose() {
    if (this.#handle === undefined) return;
    nets.KvCache.unregister(this);
    this.#k?.dispose();
    this.#v?.dispose();
    wasm.cacheFree(this.#handle);
    this.#handle = undefined;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

/** All tensors and caches in a value: itself, or in arrays and plain objects. */
function kept(result) {
  const [found, seen, open] = [new Set(), new Set(), [result]];
  while (open.length > 0) {
    const value = open.pop();
    if (value instanceof Tensor || value instanceof KvCache) found.add(value);
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      const proto = Object.getPrototypeOf(value);
      const plain = Array.isArray(value) || proto === Object.prototype || proto === null;
      if (plain) for (const part of Object.values(value)) open.push(part);
    }
  }
  return found;
}

/** A device, and all that is computed on it. */
export class Context {
  #lost;
  #destroyed = false;
  #info;
  #scopes = [];

  constructor(key, handle) {
    ours(key, 'Context');
    const scopes = this.#scopes;
    // What the other classes of this module may use.
    Object.defineProperty(this, KEY, {
      value: {
        handle,
        made: (value) => (scopes.length > 0 ? scopes[scopes.length - 1].add(value) : value[KEY]()),
        aside: (f) => {
          const open = scopes.splice(0);
          try {
            return f();
          } finally {
            scopes.push(...open);
          }
        },
      },
    });
    this.#info = wasm.contextInfo(handle);
    this.#lost = wasm.contextLost(handle);
    nets.Context.register(this, handle);
  }

  static async create(options) {
    const op = 'Context.create';
    const power = options?.powerPreference;
    if (![undefined, 'high-performance', 'low-power'].includes(power)) {
      fail(op, 'invalid-argument', `powerPreference is ${show(power)}, but 'high-performance' or 'low-power' is expected`);
    }
    needWebGpu(op);
    await init();
    return new Context(KEY, await wasm.contextCreate(power === 'low-power'));
  }

  static async enumerate() {
    if (!globalThis.navigator?.gpu) return [];
    await init();
    return wasm.contextList();
  }

  static async forAdapter(index) {
    const op = 'Context.forAdapter';
    u32(op, 'index', index);
    needWebGpu(op);
    await init();
    return new Context(KEY, await wasm.contextAt(index));
  }

  get backend() {
    return this.#info.backend;
  }

  get adapterName() {
    return this.#info.adapterName;
  }

  get isSoftware() {
    return this.#info.isSoftware;
  }

  get lost() {
    return this.#lost;
  }

  tensor(data, shape) {
    const op = 'tensor';
    return makeTensor(this, wasm.upload(this[KEY].handle, f32s(op, 'data', data), u32s(op, 'shape', shape), false));
  }

  tensorF16(data, shape) {
    const op = 'tensorF16';
    const context = this[KEY].handle;
    const bits = ['Uint16Array', 'Float16Array'].includes(typeOf.call(data));
    const values = bits ? halves(data) : f32s(op, 'data', data);
    const sizes = u32s(op, 'shape', shape);
    return makeTensor(this, bits ? wasm.uploadBits(context, values, data.length, sizes) : wasm.upload(context, values, sizes, true));
  }

  empty(shape) {
    return makeTensor(this, wasm.empty(this[KEY].handle, u32s('empty', 'shape', shape)));
  }

  matmul(a, b, m, k, n) {
    return this.#host('matmul', { m, k, n }, [['a', a, [m, k]], ['b', b, [k, n]]], (a, b) => a.mm(b));
  }

  matmulBt(a, b, m, n, k, scale) {
    return this.#host('matmulBt', { m, n, k }, [['a', a, [m, k]], ['b', b, [n, k]]], (a, b) => a.mmBt(b, scale));
  }

  add(a, b) {
    return this.#host('add', {}, [['a', a, flat(a)], ['b', b, flat(a)]], (a, b) => a.add(b));
  }

  silu(x) {
    return this.#host('silu', {}, [['x', x, flat(x)]], (x) => x.silu());
  }

  softmax(x, rows, d) {
    return this.#host('softmax', { rows, d }, [['x', x, [rows, d]]], (x) => x.softmax());
  }

  layernorm(x, weight, bias, rows, d, eps) {
    const arrays = [['x', x, [rows, d]], ['weight', weight, [d]], ['bias', bias, [d]]];
    return this.#host('layernorm', { rows, d }, arrays, (x, w, b) => x.layernorm(w, b, eps));
  }

  attention(q, k, v, rowsQ, rowsK, d, dv, scale) {
    const arrays = [['q', q, [rowsQ, d]], ['k', k, [rowsK, d]], ['v', v, [rowsK, dv]]];
    return this.#host('attention', { rowsQ, rowsK, d, dv }, arrays, (q, k, v) => q.attention(k, v, scale));
  }

  /** Uploads arrays, computes, and starts the read of the result; nothing stays behind. */
  #host(op, sizes, arrays, compute) {
    for (const [name, size] of Object.entries(sizes)) u32(op, name, size);
    for (const [name, data, shape] of arrays) {
      if (typeOf.call(data) !== 'Float32Array') fail(op, 'invalid-argument', `${name} is ${show(data)}, but a Float32Array is expected`);
      const wanted = shape.reduce((size, d) => size * d, 1);
      if (data.length !== wanted) fail(op, 'shape-mismatch', `${name} has ${data.length} values, but [${shape.join(', ')}] holds ${wanted}`);
    }
    return this.#tidy(() => compute(...arrays.map(([, data, shape]) => this.tensor(data, shape))).toArray());
  }

  /** Runs `f` and disposes of everything it made. */
  #tidy(f, keep = () => new Set()) {
    const made = new Set();
    this.#scopes.push(made);
    let saved = new Set();
    try {
      const result = f();
      saved = keep(result);
      return result;
    } finally {
      this.#scopes.splice(this.#scopes.lastIndexOf(made), 1);
      for (const value of made) {
        if (saved.has(value)) this[KEY].made(value);
        else value.dispose();
      }
    }
  }

  scope(f) {
    if (typeof f !== 'function') fail('scope', 'invalid-argument', `f is ${show(f)}, but a function is expected`);
    return this.#tidy(f, (result) => {
      if (typeof result?.then === 'function') {
        fail('scope', 'invalid-argument', 'the function gave a Promise; a scope ends when its function returns, so await outside of it');
      }
      return kept(result);
    });
  }

  kvCache(capacity, width, dtype = F32) {
    const op = 'kvCache';
    const handle = wasm.cacheCreate(this[KEY].handle, u32(op, 'capacity', capacity), u32(op, 'width', width), isHalf(op, dtype));
    return new KvCache(KEY, this, handle, capacity, width);
  }

  warmup(ops, options) {
    const op = 'warmup';
    const strings = Array.isArray(ops) && ops.every((name) => typeof name === 'string');
    if (ops !== undefined && !strings) fail(op, 'invalid-argument', `ops is ${show(ops)}, but an array of names of ops is expected`);
    const progress = options?.onProgress;
    if (progress !== undefined && typeof progress !== 'function') fail(op, 'invalid-argument', `onProgress is ${show(progress)}, but a function is expected`);
    return wasm.warmup(this[KEY].handle, ops, progress);
  }

  memory() {
    return wasm.contextMemory(this[KEY].handle);
  }

  destroy() {
    if (this.#destroyed) return;
    this.#destroyed = true;
    wasm.contextDestroy(this[KEY].handle);
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.destroy();
  }
}
