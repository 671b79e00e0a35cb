// Checks of arguments. Each takes the name of the op for its message, and returns what wasm takes in the argument's place.

import { fail } from './errors.js';
import { className, show, typeOf } from './values.js';

export const F32 = 'float32';
export const F16 = 'float16';

/** Limits on the length of shapes and of lists of row numbers, since both are copied into wasm memory. */
const DIMENSIONS_MAX = 2 ** 20;
export const IDS_MAX = 2 ** 28;

/**
 * Throws the error of a check: it shows the value given and what was expected.
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 * @param {string} expected
 * @returns {never}
 */
export function refuse(op, name, value, expected, hint = '') {
  return fail(op, 'invalid-argument', `${name} is ${show(value)}, but ${expected} is expected${hint}`);
}

/**
 * Throws the error for a value that should be an object of a class of this package.
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 * @param {string} type
 * @param {string} [expected]
 * @returns {never}
 */
export function refuseObject(op, name, value, type, expected = `a ${type}`) {
  return refuse(op, name, value, expected, className(value) === type ? ' (is it wrapped in a Proxy, or the package loaded twice?)' : '');
}

/**
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 */
export function u32(op, name, value) {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  return refuse(op, name, value, 'a whole number from 0 to 2^32 - 1');
}

/**
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 */
export function finite(op, name, value) {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
  return refuse(op, name, value, 'a number that is finite as a 32-bit float');
}

/**
 * Whether a dtype is float16.
 * @param {string} op
 * @param {unknown} dtype
 */
export function isHalf(op, dtype) {
  if (dtype === F32 || dtype === F16) return dtype === F16;
  return refuse(op, 'dtype', dtype, `'${F32}' or '${F16}'`);
}

/**
 * An argument that holds named options, or an empty object if it was not given.
 * @template {object} T
 * @param {string} op
 * @param {T | undefined} options
 * @returns {Partial<T>}
 */
export function optionsOf(op, options) {
  if (typeof (options ?? {}) !== 'object') refuse(op, 'options', options, 'an object');
  return options ?? {};
}

/**
 * Checks a shape or a list of row numbers, and copies it.
 * @param {string} op
 * @param {string} name
 * @param {any} values
 */
export function u32s(op, name, values, most = DIMENSIONS_MAX) {
  const typed = typeOf(values) === 'Uint32Array';
  if (!typed && !Array.isArray(values)) refuse(op, name, values, 'an array of whole numbers or a Uint32Array');
  if (values.length > most) fail(op, 'limit-exceeded', `${name} has ${values.length} numbers, but at most ${most} are taken`);
  return typed ? new Uint32Array(values) : checked(Uint32Array, values, (value, i) => u32(op, `${name}[${i}]`, value));
}

/**
 * Checks the values of a tensor. `or` names the other kinds of data that the op takes, for the message.
 * @param {string} op
 * @param {any} data
 */
export function f32s(op, data, or = '') {
  if (typeOf(data) === 'Float32Array') return fixed(data);
  if (!Array.isArray(data)) refuse(op, 'data', data, `a Float32Array${or} or an array of numbers`);
  return checked(Float32Array, data, (value, i) => (typeof value === 'number' ? value : refuse(op, `data[${i}]`, value, 'a number')));
}

/**
 * Checks every value and copies them into a typed array. The array is allocated only after the first value has passed: the length of
 * a sparse array without values may be 2³² - 1.
 * @template {Uint32Array | Float32Array} T
 * @param {new (length: number) => T} Type
 * @param {unknown[]} values
 * @param {(value: unknown, i: number) => number} check
 */
function checked(Type, values, check) {
  let all = new Type(0);
  for (let i = 0; i < values.length; i++) {
    const value = check(values[i], i);
    if (i === 0) all = new Type(values.length);
    all[i] = value;
  }
  return all;
}

/**
 * Whether a buffer can change its size. WebGPU refuses views of such buffers.
 * @param {any} buffer
 */
const resizes = (buffer) => buffer.resizable || buffer.growable;

/**
 * The array itself if WebGPU takes it, else a copy that it takes.
 * @param {Float32Array} values
 */
function fixed(values) {
  // A subclass is copied too: its `length` may be overridden.
  if (Object.getPrototypeOf(values) === Float32Array.prototype && !resizes(values.buffer)) return values;
  // An array of length 0 may lie beyond the end of a buffer that shrank; copying that one would throw.
  return new Float32Array(values.length === 0 ? [] : values);
}

/**
 * The bits of halves, padded to an even number of them: WebGPU writes whole 32-bit words.
 * @param {Uint16Array} values a `Uint16Array` or `Float16Array`
 */
export function halves(values) {
  const { buffer, byteOffset, length } = values;
  const bits = length === 0 ? [] : new Uint16Array(buffer, byteOffset, length);
  if (bits instanceof Uint16Array && length % 2 === 0 && !resizes(buffer)) return bits;
  const words = new Uint16Array(length + (length % 2));
  words.set(bits);
  return words;
}
