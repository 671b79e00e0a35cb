// The class KvCache.

import { finite, refuseObject, u32 } from './arguments.js';
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
 * The handle and the width of a cache. Throws if `value` is not a cache, or was disposed.
 * @type {(op: string, value: unknown) => { handle: number, width: number }}
 */
let cacheOf;

/**
 * Rows of keys and values that grow on the GPU.
 * @implements {Published}
 */
export class KvCache {
  static name = 'KvCache'; // minified code keeps this name

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
    guard(key, 'KvCache', 'caches come from ctx.kvCache()');
    this.#context = context;
    this.#handle = handle;
    this.#capacity = capacity;
    this.#width = width;
    context[KEY].scopes.made(this);
  }

  static {
    cacheOf = (op, value) => {
      if (typeof value !== 'object' || value === null || !(#handle in value)) return refuseObject(op, 'this', value, 'KvCache');
      const [handle, width] = [value.#handle, value.#width];
      if (handle === undefined) return fail(op, 'disposed', `the cache, of shape [${value.#capacity}, ${width}], was disposed`);
      return { handle, width };
    };
  }

  /** Registers the handle to be freed when this object is garbage-collected. */
  [KEY]() {
    registries.KvCache.register(this, /** @type {number} */ (this.#handle), this);
  }

  get length() {
    return wasm.cacheLength(cacheOf('length', this).handle);
  }

  get capacity() {
    return this.#capacity;
  }

  get k() {
    const { handle } = cacheOf('k', this);
    this.#k = this.#half(this.#k, () => wasm.cacheK(handle));
    return this.#k;
  }

  get v() {
    const { handle } = cacheOf('v', this);
    this.#v = this.#half(this.#v, () => wasm.cacheV(handle));
    return this.#v;
  }

  /**
   * The tensor of the keys or of the values. It is made once, and again only if the caller disposed of it. It is made outside of any
   * scope, since it belongs to the cache.
   * @param {Tensor | undefined} tensor
   * @param {() => number} make
   */
  #half(tensor, make) {
    if (tensor && !tensor.disposed) return tensor;
    return this.#context[KEY].scopes.outside(() => makeTensor(this.#context, make()));
  }

  /**
   * @param {Tensor} k
   * @param {Tensor} v
   */
  append(k, v) {
    wasm.cacheAppend(...rows('append', this, k, v));
  }

  /**
   * @param {Tensor} k
   * @param {Tensor} v
   * @param {unknown} heads
   * @param {unknown} base
   */
  appendRope(k, v, heads, base = 10000) {
    const op = 'appendRope';
    wasm.cacheAppendRope(...rows(op, this, k, v), u32(op, 'heads', heads), finite(op, 'base', base));
  }

  /** @param {unknown} length */
  truncate(length) {
    wasm.cacheTruncate(cacheOf('truncate', this).handle, u32('truncate', 'length', length));
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

/**
 * Checks the arguments of an append, and returns their handles.
 * @param {string} op
 * @param {KvCache} cache
 * @param {Tensor} k
 * @param {Tensor} v
 * @returns {[cache: number, k: number, v: number]}
 */
function rows(op, cache, k, v) {
  const { handle, width } = cacheOf(op, cache);
  const [keys, values] = [handleOf(op, 'k', k), handleOf(op, 'v', v)];
  if ([k, v].some(({ shape }) => shape.length !== 2 || shape[1] !== width)) {
    fail(op, 'shape-mismatch', `k has shape [${k.shape.join(', ')}] and v [${v.shape.join(', ')}], but [t, ${width}] is expected`);
  }
  return [handle, keys, values];
}
