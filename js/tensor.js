// The class Tensor: a handle and its shape. Most of its methods come from the op table.

import { F16, F32, refuseObject } from './arguments.js';
import { fail } from './errors.js';
import { DISPOSE, guard, KEY, registries } from './handles.js';
import { memory } from './load.js';
import { table } from './ops.js';
import * as wasm from './tensorweft.js';

/**
 * @import { Context } from './context.js'
 * @import { Op } from './tensorweft.js'
 * @import { Row } from './ops.js'
 * @import { Tensor as Published } from './types/tensor.js'
 */

/**
 * A view of wasm memory. Each op leaves there the rank, the dimensions and the dtype of its result, which is faster than asking for
 * them by a call.
 * @type {Uint32Array | undefined}
 */
let last;

function lastResult() {
  // When wasm memory grows, older views of it become empty.
  if (!last?.length) last = new Uint32Array(memory.buffer, wasm.shapeAddress(), 10);
  return last;
}

/** @param {number} handle */
function lastShape(handle) {
  const result = lastResult();
  const rank = result[0];
  if (rank > 8) return Object.freeze(Array.from(wasm.shapeOf(handle)));
  const shape = [];
  for (let i = 1; i <= rank; i++) shape.push(result[i]);
  return Object.freeze(shape);
}

/**
 * The handle of a tensor. Throws if `value` is not a tensor, or was disposed.
 * @type {(op: string, name: string, value: unknown, expected?: string) => number}
 */
export let handleOf;

/**
 * A new tensor for a handle, which must be the latest that wasm returned: its shape is read from the view above.
 * @type {(context: Context, handle: number) => Published}
 */
export let makeTensor;

/**
 * Row-major values on the GPU.
 * @implements {Omit<Published, Row>}
 */
export class Tensor {
  static name = 'Tensor'; // minified code keeps this name

  #context;
  /** @type {number | undefined} */
  #handle;
  #shape;
  /** @type {'float32' | 'float16'} */
  #dtype;

  /**
   * @param {typeof KEY} key
   * @param {Context} context
   * @param {number} handle
   */
  constructor(key, context, handle) {
    guard(key, 'Tensor', 'tensors come from a Context and from ops');
    this.#context = context;
    this.#handle = handle;
    this.#shape = lastShape(handle);
    this.#dtype = lastResult()[9] === 1 ? F16 : F32;
    context[KEY].scopes.made(this);
  }

  static {
    makeTensor = (context, handle) => /** @type {Tensor & Pick<Published, Row>} */ (new Tensor(KEY, context, handle));

    handleOf = (op, name, value, expected) => {
      if (typeof value !== 'object' || value === null || !(#handle in value)) return refuseObject(op, name, value, 'Tensor', expected);
      if (value.#handle === undefined) fail(op, 'disposed', `${name}, of shape [${value.#shape.join(', ')}], was disposed`);
      return value.#handle;
    };

    const ops = table((name) => (op, value) => handleOf(op, name, value));
    for (const [name, checks] of Object.entries(ops)) {
      /** @type {Op} */
      const run = /** @type {any} */ (wasm)[name];
      // Written out for up to five arguments: collecting them in arrays would take longer than the call itself.
      const [one, two, three, four, five] = checks;
      const method = {
        /** @type {(this: Tensor, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) => Tensor | Tensor[]} */
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

  /** Registers the handle to be freed when this object is garbage-collected. */
  [KEY]() {
    registries.Tensor.register(this, /** @type {number} */ (this.#handle), this);
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

  /** @param {unknown} s */
  mulScalar(s) {
    const op = 'mulScalar';
    const x = handleOf(op, 'this', this);
    const context = this.#context[KEY].handle;
    const y = typeof s === 'number' ? wasm.scale(context, x, s) : wasm.mulScalar(context, x, handleOf(op, 's', s, 'a number or a Tensor'));
    return makeTensor(this.#context, y);
  }

  toArray() {
    const handle = handleOf('toArray', 'this', this);
    return wasm.read(this.#context[KEY].handle, handle);
  }

  dispose() {
    if (this.#handle === undefined) return;
    registries.Tensor.unregister(this);
    wasm.free(this.#handle);
    this.#handle = undefined;
  }

  [DISPOSE]() {
    this.dispose();
  }
}
