// What the classes share: how they reach one another's handles, and how wasm learns that an object is gone.

import { fail } from './errors.js';
import { cacheFree, contextFree, free } from './tensorweft.js';

/**
 * The key to what the classes of this package show one another and nobody else.
 * @type {unique symbol}
 */
export const KEY = Symbol();

/**
 * `Symbol.dispose`, or where the browser lacks it what its polyfills use.
 * @type {typeof Symbol.dispose}
 */
export const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/**
 * The constructors are not for users: what they make belongs to wasm.
 * @param {unknown} key
 * @param {string} name
 */
export function guard(key, name) {
  if (key !== KEY) fail(name, 'invalid-argument', `use the methods of Context; ${name} has no public constructor`);
}

/** Free what nobody disposed of when its object is collected. */
export const registries = {
  Tensor: new FinalizationRegistry(free),
  KvCache: new FinalizationRegistry(cacheFree),
  Context: new FinalizationRegistry(contextFree),
};
