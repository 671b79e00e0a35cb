// The op table. Adding an op to JavaScript is one row here and one member of Tensor in types/tensor.d.ts.

import { finite, IDS_MAX, isHalf, u32, u32s } from './arguments.js';
import { fail } from './errors.js';
import { show } from './show.js';

/**
 * @import { OpName } from './types/context.js'
 * @import { Tensor } from './types/tensor.js'
 */

/**
 * Checks one argument, and gives what wasm takes in its place.
 * @typedef {(op: string, value: unknown) => unknown} Check
 */

/**
 * One check for each argument.
 * @template {readonly unknown[]} Arguments
 * @typedef {{ [I in keyof Arguments]: Check }} Checks
 */

/**
 * The methods of the published class that the table makes. `mulScalar` takes a number or a tensor, and is written out in tensor.js.
 * @typedef {Exclude<OpName, 'empty' | 'kvCache' | 'mulScalar'>} Row
 */

/** @typedef {{ [K in Row]: Checks<Required<Parameters<Tensor[K]>>> }} Table */

/** @type {(name: string) => Check} */
const whole = (name) => (op, value) => u32(op, name, value);

/** @type {(name: string, otherwise?: number) => Check} */
const number = (name, otherwise) => (op, value) => finite(op, name, value === undefined ? otherwise : value);

/**
 * For a default that wasm knows from the shapes: NaN asks for it.
 * @type {(check: Check) => Check}
 */
const optional = (check) => (op, value) => (value === undefined ? NaN : check(op, value));

/**
 * One of a few names, as its place among them from 1 on; 0 if not given.
 * @type {(name: string, ...names: string[]) => Check}
 */
const oneOf =
  (name, ...names) =>
  (op, value) => {
    if (value === undefined) return 0;
    const place = names.indexOf(/** @type {string} */ (value)) + 1;
    return place || fail(op, 'invalid-argument', `${name} is ${show(value)}, but one of ${names.join(', ')} is expected`);
  };

/**
 * The rows by name.
 * @param {(name: string) => Check} tensor the check for a tensor, which only Tensor can do
 * @returns {Table}
 */
export const table = (tensor) => ({
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
});
