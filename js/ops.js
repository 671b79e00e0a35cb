// The op table. Adding an op to JavaScript is one row here and one member of Tensor in types/tensor.d.ts.

import { finite, IDS_MAX, isHalf, refuse, u32, u32s } from './arguments.js';

/**
 * @import { OpName } from './types/context.js'
 * @import { Tensor } from './types/tensor.js'
 */

/**
 * Checks one argument, and returns what wasm takes in its place.
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
 * An argument that may be left out; wasm then gets NaN and takes the default from the shapes.
 * @type {(check: Check) => Check}
 */
const optional = (check) => (op, value) => (value === undefined ? NaN : check(op, value));

/**
 * One of a few names. wasm gets its place among them, counted from 1, or 0 if it was left out.
 * @type {(name: string, ...names: string[]) => Check}
 */
const oneOf =
  (name, ...names) =>
  (op, value) => {
    if (value === undefined) return 0;
    const place = names.indexOf(/** @type {string} */ (value)) + 1;
    return place || refuse(op, name, value, `one of ${names.join(', ')}`);
  };

/**
 * The op table: for each method its checks, one an argument.
 * @param {(name: string) => Check} tensor makes the check for a tensor; only the class Tensor can tell what is one
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
