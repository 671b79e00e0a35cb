// Checks of arguments: each takes the op's name for the message, and gives what wasm takes or throws.

import { fail } from './errors.js';
import { show } from './show.js';

export const F32 = 'float32';
export const F16 = 'float16';

/** wasm takes copies of shapes and row numbers, so there is a most; no real shape comes near its own. */
const DIMENSIONS_MAX = 2 ** 20;
export const IDS_MAX = 2 ** 28;

/**
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 */
export function u32(op, name, value) {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  return fail(op, 'invalid-argument', `${name} is ${show(value)}, but a whole number from 0 to 2^32 - 1 is expected`);
}

/**
 * @param {string} op
 * @param {string} name
 * @param {unknown} value
 */
export function finite(op, name, value) {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
  return fail(op, 'invalid-argument', `${name} is ${show(value)}, but a finite number is expected, as a 32-bit float too`);
}

/**
 * Whether a dtype is float16.
 * @param {string} op
 * @param {unknown} dtype
 */
export function isHalf(op, dtype) {
  if (dtype === F32 || dtype === F16) return dtype === F16;
  return fail(op, 'invalid-argument', `dtype is ${show(dtype)}, but '${F32}' or '${F16}' is expected`);
}

const tag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

/**
 * The name of a typed array's type, `undefined` for all else. Unlike `instanceof` it knows the arrays of another window, and is not
 * fooled by a Proxy.
 * @param {unknown} value
 * @returns {string | undefined}
 */
export const typeOf = (value) => tag?.get?.call(value);

/**
 * A shape, or row numbers.
 * @param {string} op
 * @param {string} name
 * @param {any} values
 */
export function u32s(op, name, values, most = DIMENSIONS_MAX) {
  const typed = typeOf(values) === 'Uint32Array';
  if (!typed && !Array.isArray(values))
    fail(op, 'invalid-argument', `${name} is ${show(values)}, but an array of whole numbers is expected`);
  if (values.length > most) fail(op, 'limit-exceeded', `${name} has ${values.length} numbers, but ${most} is the most`);
  return typed ? new Uint32Array(values) : checked(Uint32Array, values, (value, i) => u32(op, `${name}[${i}]`, value));
}

/**
 * @param {string} op
 * @param {string} name
 * @param {any} values
 */
export function f32s(op, name, values) {
  if (typeOf(values) === 'Float32Array') return fixed(values);
  if (!Array.isArray(values)) fail(op, 'invalid-argument', `${name} is ${show(values)}, but a Float32Array is expected`);
  return checked(Float32Array, values, (value, i) =>
    typeof value === 'number' ? value : fail(op, 'invalid-argument', `${name}[${i}] is ${show(value)}, but a number is expected`),
  );
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
