// The class of contexts: acquiring, uploads, host-array ops, scopes.

import { F32, f32s, halves, isHalf, typeOf, u32, u32s } from './arguments.js';
import { fail } from './errors.js';
import { DISPOSE, guard, KEY, registries } from './handles.js';
import { KvCache } from './kv-cache.js';
import { hasWebGpu, init, needWebGpu } from './load.js';
import { collect, Scopes } from './scope.js';
import { show } from './show.js';
import { makeTensor, Tensor } from './tensor.js';
import * as wasm from './tensorweft.js';

/**
 * @import { Context as Published } from './types/context.js'
 * @import { Tensor as PublishedTensor } from './types/tensor.js'
 */

/** A host array of an op: its name, the array, and the shape it must fill. @typedef {[name: string, data: any, shape: any[]]} HostArray */

/** The shape of a flat array; what is none is refused later, with its name. @type {(values: any) => number[]} */
const flat = (values) => [typeOf(values) === undefined ? 0 : values.length];

/**
 * A device, and all that is computed on it.
 * @implements {Published}
 */
export class Context {
  static name = 'Context'; // also when minified

  #lost;
  #destroyed = false;
  #info;
  #shared;

  /**
   * @param {typeof KEY} key
   * @param {number} handle
   */
  constructor(key, handle) {
    guard(key, 'Context');
    this.#shared = { handle, scopes: new Scopes() };
    this.#info = wasm.contextInfo(handle);
    this.#lost = wasm.contextLost(handle);
    registries.Context.register(this, handle);
  }

  /** What tensors and caches see of their context. */
  get [KEY]() {
    return this.#shared;
  }

  /** @param {Parameters<typeof Published.create>[0]} [options] */
  static async create(options) {
    const op = 'Context.create';
    const power = options?.powerPreference;
    if (power !== undefined && power !== 'high-performance' && power !== 'low-power') {
      fail(op, 'invalid-argument', `powerPreference is ${show(power)}, but 'high-performance' or 'low-power' is expected`);
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
    return makeTensor(this, wasm.upload(this[KEY].handle, f32s(op, 'data', data), u32s(op, 'shape', shape), false));
  }

  /**
   * @param {any} data
   * @param {unknown} shape
   */
  tensorF16(data, shape) {
    const op = 'tensorF16';
    const context = this[KEY].handle;
    const isBits = ['Uint16Array', 'Float16Array'].includes(typeOf(data) ?? '');
    const values = isBits ? halves(data) : f32s(op, 'data', data);
    const sizes = u32s(op, 'shape', shape);
    const handle =
      values instanceof Uint16Array ? wasm.uploadBits(context, values, data.length, sizes) : wasm.upload(context, values, sizes, true);
    return makeTensor(this, handle);
  }

  /** @param {unknown} shape */
  empty(shape) {
    return makeTensor(this, wasm.empty(this[KEY].handle, u32s('empty', 'shape', shape)));
  }

  /** @type {Published['matmul']} */
  matmul(a, b, m, k, n) {
    return this.#host(
      'matmul',
      { m, k, n },
      [
        ['a', a, [m, k]],
        ['b', b, [k, n]],
      ],
      ([a, b]) => a.mm(b),
    );
  }

  /** @type {Published['matmulBt']} */
  matmulBt(a, b, m, n, k, scale) {
    return this.#host(
      'matmulBt',
      { m, n, k },
      [
        ['a', a, [m, k]],
        ['b', b, [n, k]],
      ],
      ([a, b]) => a.mmBt(b, scale),
    );
  }

  /** @type {Published['add']} */
  add(a, b) {
    return this.#host(
      'add',
      {},
      [
        ['a', a, flat(a)],
        ['b', b, flat(a)],
      ],
      ([a, b]) => a.add(b),
    );
  }

  /** @type {Published['silu']} */
  silu(x) {
    return this.#host('silu', {}, [['x', x, flat(x)]], ([x]) => x.silu());
  }

  /** @type {Published['softmax']} */
  softmax(x, rows, d) {
    return this.#host('softmax', { rows, d }, [['x', x, [rows, d]]], ([x]) => x.softmax());
  }

  /** @type {Published['layernorm']} */
  layernorm(x, weight, bias, rows, d, eps) {
    return this.#host(
      'layernorm',
      { rows, d },
      [
        ['x', x, [rows, d]],
        ['weight', weight, [d]],
        ['bias', bias, [d]],
      ],
      ([x, w, b]) => x.layernorm(w, b, eps),
    );
  }

  /** @type {Published['attention']} */
  attention(q, k, v, rowsQ, rowsK, d, dv, scale) {
    return this.#host(
      'attention',
      { rowsQ, rowsK, d, dv },
      [
        ['q', q, [rowsQ, d]],
        ['k', k, [rowsK, d]],
        ['v', v, [rowsK, dv]],
      ],
      ([q, k, v]) => q.attention(k, v, scale),
    );
  }

  /**
   * Uploads arrays, computes, and starts the read of the result; nothing stays behind.
   * @param {string} op
   * @param {Record<string, unknown>} sizes
   * @param {HostArray[]} arrays
   * @param {(tensors: PublishedTensor[]) => PublishedTensor} compute
   */
  #host(op, sizes, arrays, compute) {
    for (const [name, size] of Object.entries(sizes)) u32(op, name, size);
    for (const [name, data, shape] of arrays) {
      if (typeOf(data) !== 'Float32Array') fail(op, 'invalid-argument', `${name} is ${show(data)}, but a Float32Array is expected`);
      const wanted = shape.reduce((size, d) => size * d, 1);
      if (data.length !== wanted)
        fail(op, 'shape-mismatch', `${name} has ${data.length} values, but [${shape.join(', ')}] holds ${wanted}`);
    }
    return this.#shared.scopes.run(() => compute(arrays.map(([, data, shape]) => this.tensor(data, shape))).toArray());
  }

  /**
   * @template T
   * @param {() => T} f
   */
  scope(f) {
    if (typeof f !== 'function') fail('scope', 'invalid-argument', `f is ${show(f)}, but a function is expected`);
    return this.#shared.scopes.run(f, (/** @type {any} */ result) => {
      if (typeof result?.then === 'function') {
        fail('scope', 'invalid-argument', 'the function gave a Promise; a scope ends when its function returns, so await outside of it');
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
    const [rows, columns] = [u32(op, 'capacity', capacity), u32(op, 'width', width)];
    return new KvCache(KEY, this, wasm.cacheCreate(this[KEY].handle, rows, columns, isHalf(op, dtype)), rows, columns);
  }

  /** @type {Published['warmup']} */
  warmup(ops, options) {
    const op = 'warmup';
    const strings = Array.isArray(ops) && ops.every((name) => typeof name === 'string');
    if (ops !== undefined && !strings) fail(op, 'invalid-argument', `ops is ${show(ops)}, but an array of names of ops is expected`);
    const progress = options?.onProgress;
    if (progress !== undefined && typeof progress !== 'function') {
      fail(op, 'invalid-argument', `onProgress is ${show(progress)}, but a function is expected`);
    }
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

  [DISPOSE]() {
    this.destroy();
  }
}
