// Checks of arguments: each takes the op's name for the message, and gives what wasm takes or throws.

import { fail } from './errors.js';
import { className, show, typeOf } from './values.js';

export const F32 = 'float32';
export const F16 = 'float16';

/** wasm takes copies of shapes and row numbers, so there is a most; no real shape comes near its own. */
const DIMENSIONS_MAX = 2 ** 20;
export const IDS_MAX = 2 ** 28;

/**
 * Throws what every check throws: the value given, and what was expected.
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
 * The same for what should be an object of a class of this package.
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
 * Named options, if any were given.
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
 * A shape, or row numbers.
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
 * The values of a tensor. `or` names what else the op takes in their place.
 * @param {string} op
 * @param {any} data
 */
export function f32s(op, data, or = '') {
  if (typeOf(data) === 'Float32Array') return fixed(data);
  if (!Array.isArray(data)) refuse(op, 'data', data, `a Float32Array${or} or an array of numbers`);
  return checked(Float32Array, data, (value, i) => (typeof value === 'number' ? value : refuse(op, `data[${i}]`, value, 'a number')));
}

/**
 * An array of what `check` lets through. It is made only when the first value has passed: an array without values may claim to be
 * 2³² - 1 long.
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
 * Whether a buffer can change its size; WebGPU refuses views of such.
 * @param {any} buffer
 */
const resizes = (buffer) => buffer.resizable || buffer.growable;

/**
 * The same values where WebGPU takes them.
 * @param {Float32Array} values
 */
function fixed(values) {
  // A subclass may give another length than it holds.
  if (Object.getPrototypeOf(values) === Float32Array.prototype && !resizes(values.buffer)) return values;
  // Without values it may lie beyond the end of a buffer that shrank, and cannot be copied.
  return new Float32Array(values.length === 0 ? [] : values);
}

/**
 * The bits of halves, and a zero behind an odd number of them: WebGPU writes whole words.
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
