// What the classes share. An object of theirs holds a handle: the number of a context, tensor or cache inside wasm.

import { fail } from './errors.js';
import { cacheFree, contextFree, free } from './tensorweft.js';

/**
 * The key of members that only this package may use: users cannot get hold of it.
 * @type {unique symbol}
 */
export const KEY = Symbol();

/**
 * `Symbol.dispose`, or, in a browser without it, the symbol that its polyfills use.
 * @type {typeof Symbol.dispose}
 */
export const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/**
 * Refuses a constructor to users: objects are made from handles, which only this package has.
 * @param {unknown} key
 * @param {string} name
 * @param {string} how where such objects come from
 */
export function guard(key, name, how) {
  if (key !== KEY) fail(name, 'invalid-argument', `new ${name}() is not for users: ${how}`);
}

/** They free a handle whose object was garbage-collected without having been disposed of. */
export const registries = {
  Tensor: new FinalizationRegistry(free),
  KvCache: new FinalizationRegistry(cacheFree),
  Context: new FinalizationRegistry(contextFree),
};
