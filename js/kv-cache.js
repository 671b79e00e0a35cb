// The class of key and value caches.

import { finite, u32 } from './arguments.js';
import { fail } from './errors.js';
import { DISPOSE, guard, KEY, registries } from './handles.js';
import { handleOf, makeTensor } from './tensor.js';
import * as wasm from './tensorweft.js';

/**
 * @import { Context } from './context.js'
 * @import { KvCache as Published } from './types/kv-cache.js'
 * @import { Tensor } from './types/tensor.js'
 */

/**
 * Rows of keys and values that grow on the GPU.
 * @implements {Published}
 */
export class KvCache {
  static name = 'KvCache'; // also when minified

  #context;
  /** @type {number | undefined} */
  #handle;
  #capacity;
  #width;
  /** @type {Tensor | undefined} */
  #k;
  /** @type {Tensor | undefined} */
  #v;

  /**
   * @param {typeof KEY} key
   * @param {Context} context
   * @param {number} handle
   * @param {number} capacity
   * @param {number} width
   */
  constructor(key, context, handle, capacity, width) {
    guard(key, 'KvCache');
    this.#context = context;
    this.#handle = handle;
    this.#capacity = capacity;
    this.#width = width;
    context[KEY].scopes.made(this);
  }

  /** Has the handle freed when this object is collected. */
  [KEY]() {
    registries.KvCache.register(this, /** @type {number} */ (this.#handle), this);
  }

  /** @param {string} op */
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

  get k() {
    const handle = this.#live('k');
    this.#k = this.#half(this.#k, () => wasm.cacheK(handle));
    return this.#k;
  }

  get v() {
    const handle = this.#live('v');
    this.#v = this.#half(this.#v, () => wasm.cacheV(handle));
    return this.#v;
  }

  /**
   * One tensor for all calls, unless the caller disposed of it. It belongs to the cache, so no scope may end it.
   * @param {Tensor | undefined} tensor
   * @param {() => number} make
   */
  #half(tensor, make) {
    if (tensor && !tensor.disposed) return tensor;
    return this.#context[KEY].scopes.outside(() => makeTensor(this.#context, make()));
  }

  /**
   * The handles of an append, checked.
   * @param {string} op
   * @param {Tensor} k
   * @param {Tensor} v
   * @returns {[cache: number, k: number, v: number]}
   */
  #rows(op, k, v) {
    const cache = this.#live(op);
    const handles = [handleOf(op, 'k', k), handleOf(op, 'v', v)];
    if ([k, v].some(({ shape }) => shape.length !== 2 || shape[1] !== this.#width)) {
      fail(op, 'shape-mismatch', `k has shape [${k.shape.join(', ')}] and v [${v.shape.join(', ')}], but [t, ${this.#width}] is expected`);
    }
    return [cache, handles[0], handles[1]];
  }

  /**
   * @param {Tensor} k
   * @param {Tensor} v
   */
  append(k, v) {
    wasm.cacheAppend(...this.#rows('append', k, v));
  }

  /**
   * @param {Tensor} k
   * @param {Tensor} v
   * @param {unknown} heads
   * @param {unknown} base
   */
  appendRope(k, v, heads, base = 10000) {
    const op = 'appendRope';
    wasm.cacheAppendRope(...this.#rows(op, k, v), u32(op, 'heads', heads), finite(op, 'base', base));
  }

  /** @param {unknown} length */
  truncate(length) {
    wasm.cacheTruncate(this.#live('truncate'), u32('truncate', 'length', length));
  }

  dispose() {
    if (this.#handle === undefined) return;
    registries.KvCache.unregister(this);
    this.#k?.dispose();
    this.#v?.dispose();
    wasm.cacheFree(this.#handle);
    this.#handle = undefined;
  }

  [DISPOSE]() {
    this.dispose();
  }
}
