// The class Context: acquiring a device, uploads, host-array ops, scopes.

import { F32, f32s, finite, halves, isHalf, optionsOf, refuse, refuseObject, u32, u32s } from './arguments.js';
import { fail } from './errors.js';
import { DISPOSE, guard, KEY, registries } from './handles.js';
import { KvCache } from './kv-cache.js';
import { hasWebGpu, init, needWebGpu } from './load.js';
import { collect, Scopes } from './scope.js';
import { makeTensor, Tensor } from './tensor.js';
import * as wasm from './tensorweft.js';
import { typeOf } from './values.js';

/**
 * @import { Context as Published } from './types/context.js'
 * @import { Tensor as PublishedTensor } from './types/tensor.js'
 */

/** @typedef {{ handle: number, scopes: Scopes }} Shared */

/**
 * What a context shares with its tensors and caches. Throws if `value` is not a context.
 * @type {(op: string, value: unknown) => Shared}
 */
let sharedOf;

/**
 * A device, and all that is computed on it.
 * @implements {Published}
 */
export class Context {
  static name = 'Context'; // minified code keeps this name

  #lost;
  #destroyed = false;
  #info;
  /** @type {Shared} */
  #shared;

  /**
   * @param {typeof KEY} key
   * @param {number} handle
   */
  constructor(key, handle) {
    guard(key, 'Context', 'contexts come from Context.create() and forAdapter()');
    this.#shared = { handle, scopes: new Scopes() };
    this.#info = wasm.contextInfo(handle);
    this.#lost = wasm.contextLost(handle);
    registries.Context.register(this, handle);
  }

  static {
    sharedOf = (op, value) => {
      if (typeof value !== 'object' || value === null || !(#shared in value)) return refuseObject(op, 'this', value, 'Context');
      return value.#shared;
    };
  }

  get [KEY]() {
    return this.#shared;
  }

  /** @param {Parameters<typeof Published.create>[0]} [options] */
  static async create(options) {
    const op = 'Context.create';
    const { powerPreference: power } = optionsOf(op, options);
    if (power !== undefined && power !== 'high-performance' && power !== 'low-power') {
      refuse(op, 'powerPreference', power, "'high-performance' or 'low-power'");
    }
    needWebGpu(op);
    await init();
    return new Context(KEY, await wasm.contextCreate(power === 'low-power'));
  }

  static async enumerate() {
    if (!hasWebGpu()) return [];
    await init();
    return wasm.contextList();
  }

  /** @param {unknown} index */
  static async forAdapter(index) {
    const op = 'Context.forAdapter';
    const place = u32(op, 'index', index);
    needWebGpu(op);
    await init();
    return new Context(KEY, await wasm.contextAt(place));
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

  /**
   * @param {unknown} data
   * @param {unknown} shape
   */
  tensor(data, shape) {
    const op = 'tensor';
    const { handle } = sharedOf(op, this);
    return makeTensor(this, wasm.upload(handle, f32s(op, data), u32s(op, 'shape', shape), false));
  }

  /**
   * @param {any} data
   * @param {unknown} shape
   */
  tensorF16(data, shape) {
    const op = 'tensorF16';
    const { handle } = sharedOf(op, this);
    const isBits = ['Uint16Array', 'Float16Array'].includes(typeOf(data) ?? '');
    const values = isBits ? halves(data) : f32s(op, data, ', Float16Array, Uint16Array');
    const sizes = u32s(op, 'shape', shape);
    const bits = values instanceof Uint16Array;
    return makeTensor(this, bits ? wasm.uploadBits(handle, values, data.length, sizes) : wasm.upload(handle, values, sizes, true));
  }

  /** @param {unknown} shape */
  empty(shape) {
    const { handle } = sharedOf('empty', this);
    return makeTensor(this, wasm.empty(handle, u32s('empty', 'shape', shape)));
  }

  /** @type {Published['matmul']} */
  matmul(a, b, m, k, n) {
    return host(this, 'matmul', { m, k, n }, { a: [a, m, k], b: [b, k, n] }, ({ a, b }) => a.mm(b));
  }

  /** @type {Published['matmulBt']} */
  matmulBt(a, b, m, n, k, scale) {
    ifGiven('matmulBt', 'scale', scale);
    return host(this, 'matmulBt', { m, n, k }, { a: [a, m, k], b: [b, n, k] }, ({ a, b }) => a.mmBt(b, scale));
  }

  /** @type {Published['add']} */
  add(a, b) {
    return host(this, 'add', {}, { a: [a, lengthOf(a)], b: [b, lengthOf(a)] }, ({ a, b }) => a.add(b));
  }

  /** @type {Published['silu']} */
  silu(x) {
    return host(this, 'silu', {}, { x: [x, lengthOf(x)] }, ({ x }) => x.silu());
  }

  /** @type {Published['softmax']} */
  softmax(x, rows, d) {
    return host(this, 'softmax', { rows, d }, { x: [x, rows, d] }, ({ x }) => x.softmax());
  }

  /** @type {Published['layernorm']} */
  layernorm(x, weight, bias, rows, d, eps) {
    ifGiven('layernorm', 'eps', eps);
    const arrays = { x: [x, rows, d], weight: [weight, d], bias: [bias, d] };
    return host(this, 'layernorm', { rows, d }, arrays, ({ x, weight, bias }) => x.layernorm(weight, bias, eps));
  }

  /** @type {Published['attention']} */
  attention(q, k, v, rowsQ, rowsK, d, dv, scale) {
    ifGiven('attention', 'scale', scale);
    const arrays = { q: [q, rowsQ, d], k: [k, rowsK, d], v: [v, rowsK, dv] };
    return host(this, 'attention', { rowsQ, rowsK, d, dv }, arrays, ({ q, k, v }) => q.attention(k, v, scale));
  }

  /**
   * @template T
   * @param {() => T} f
   */
  scope(f) {
    const op = 'scope';
    const { scopes } = sharedOf(op, this);
    if (typeof f !== 'function') refuse(op, 'f', f, 'a function');
    return scopes.run(f, (/** @type {any} */ result) => {
      if (typeof result?.then === 'function') {
        fail(op, 'invalid-argument', 'f gave a Promise, but a scope ends when its function returns: await outside of it');
      }
      return collect(result, (value) => value instanceof Tensor || value instanceof KvCache);
    });
  }

  /**
   * @param {unknown} capacity
   * @param {unknown} width
   * @param {unknown} dtype
   */
  kvCache(capacity, width, dtype = F32) {
    const op = 'kvCache';
    const { handle } = sharedOf(op, this);
    const [rows, columns] = [u32(op, 'capacity', capacity), u32(op, 'width', width)];
    return new KvCache(KEY, this, wasm.cacheCreate(handle, rows, columns, isHalf(op, dtype)), rows, columns);
  }

  /** @type {Published['warmup']} */
  warmup(ops, options) {
    const op = 'warmup';
    const { handle } = sharedOf(op, this);
    if (ops !== undefined && !Array.isArray(ops)) refuse(op, 'ops', ops, 'an array of names of ops');
    ops?.forEach((name, i) => typeof name === 'string' || refuse(op, `ops[${i}]`, name, 'the name of an op'));
    const { onProgress } = optionsOf(op, options);
    if (onProgress !== undefined && typeof onProgress !== 'function') refuse(op, 'onProgress', onProgress, 'a function');
    return wasm.warmup(handle, ops, onProgress);
  }

  memory() {
    return wasm.contextMemory(sharedOf('memory', this).handle);
  }

  destroy() {
    const { handle } = sharedOf('destroy', this);
    if (this.#destroyed) return;
    this.#destroyed = true;
    wasm.contextDestroy(handle);
  }

  [DISPOSE]() {
    this.destroy();
  }
}

/**
 * The length of a typed array, 0 for any other value. `host` refuses those by name; reading their length here could throw before
 * that, as it does for a Proxy of a typed array.
 * @param {any} values
 */
const lengthOf = (values) => (typeOf(values) === undefined ? 0 : values.length);

/**
 * Checks a number that may be left out.
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 */
const ifGiven = (op, name, value) => value === undefined || finite(op, name, value);

/**
 * Runs a host-array op: uploads the arrays, computes, starts the read of the result, and disposes of all tensors.
 * @template {Record<string, any[]>} Arrays
 * @param {Context} context
 * @param {string} op
 * @param {Record<string, unknown>} sizes arguments that must be whole numbers
 * @param {Arrays} arrays by name: each array, and behind it the shape that it must fill
 * @param {(tensors: Record<keyof Arrays, PublishedTensor>) => PublishedTensor} compute
 */
function host(context, op, sizes, arrays, compute) {
  const { scopes } = sharedOf(op, context);
  for (const [name, size] of Object.entries(sizes)) u32(op, name, size);
  for (const [name, [data, ...shape]] of Object.entries(arrays)) {
    if (typeOf(data) !== 'Float32Array') refuse(op, name, data, 'a Float32Array');
    const holds = shape.reduce((size, d) => size * d, 1);
    if (data.length !== holds) {
      fail(op, 'shape-mismatch', `${name} has ${data.length} values, but shape [${shape.join(', ')}] holds ${holds}`);
    }
  }
  return scopes.run(() => {
    const tensors = Object.entries(arrays).map(([name, [data, ...shape]]) => [name, context.tensor(data, shape)]);
    return compute(Object.fromEntries(tensors)).toArray();
  });
}
