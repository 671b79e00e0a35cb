// The class of tensors: a handle, its shape, and the methods of the op table.

import { F16, F32 } from './arguments.js';
import { fail } from './errors.js';
import { DISPOSE, guard, KEY, registries } from './handles.js';
import { memory } from './load.js';
import { table } from './ops.js';
import { className, show } from './show.js';
import * as wasm from './tensorweft.js';

/**
 * @import { Context } from './context.js'
 * @import { Op } from './tensorweft.js'
 * @import { Row } from './ops.js'
 * @import { Tensor as Published } from './types/tensor.js'
 */

/**
 * Where wasm leaves rank, dimensions and dtype of the last result: reading them there is quicker than a call.
 * @type {Uint32Array | undefined}
 */
let last;

function lastResult() {
  // When wasm memory grows, views of it lose their length.
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
 * The handle of a tensor, or an error for what is none or was disposed.
 * @type {(op: string, name: string, value: unknown) => number}
 */
export let handleOf;

/**
 * A tensor of the handle that wasm gave last.
 * @type {(context: Context, handle: number) => Published}
 */
export let makeTensor;

/**
 * Row-major values on the GPU.
 * @implements {Omit<Published, Row>}
 */
export class Tensor {
  static name = 'Tensor'; // also when minified

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
    guard(key, 'Tensor');
    this.#context = context;
    this.#handle = handle;
    this.#shape = lastShape(handle);
    this.#dtype = lastResult()[9] === 1 ? F16 : F32;
    context[KEY].scopes.made(this);
  }

  static {
    makeTensor = (context, handle) => /** @type {Tensor & Pick<Published, Row>} */ (new Tensor(KEY, context, handle));

    handleOf = (op, name, value) => {
      if (typeof value !== 'object' || value === null || !(#handle in value)) {
        const why = className(value) === 'Tensor' ? ' (is it wrapped in a Proxy, or the package loaded twice?)' : '';
        return fail(op, 'invalid-argument', `${name} is ${show(value)}, but a Tensor is expected${why}`);
      }
      return value.#live(op, name);
    };

    const ops = table((name) => (op, value) => handleOf(op, name, value));
    for (const [name, checks] of Object.entries(ops)) {
      /** @type {Op} */
      const run = /** @type {any} */ (wasm)[name];
      // Written out, since building lists of arguments would cost more than the call.
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

  /** Has the handle freed when this object is collected. */
  [KEY]() {
    registries.Tensor.register(this, /** @type {number} */ (this.#handle), this);
  }

  /**
   * @param {string} op
   * @param {string} name
   */
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

  /** @param {unknown} s */
  mulScalar(s) {
    const op = 'mulScalar';
    const handle = handleOf(op, 'this', this);
    const context = this.#context[KEY].handle;
    const y = typeof s === 'number' ? wasm.scale(context, handle, s) : wasm.mulScalar(context, handle, handleOf(op, 's', s));
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
