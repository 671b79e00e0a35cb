// Scopes. What is made while a scope is open belongs to it, and is disposed of when it ends, unless its function returned it.

import { KEY } from './handles.js';

/**
 * A tensor or a cache. Its method KEY registers it with the garbage collector.
 * @typedef {{ dispose(): void, [KEY](): void }} Owned
 */

/** The scopes of one context that are open now; the innermost is the last. */
export class Scopes {
  /** @type {Set<Owned>[]} */
  #open = [];

  /**
   * Hands a new tensor or cache to the innermost scope. Only without one is it registered with the garbage collector: registering
   * takes as long as an op, and a scope disposes of its own anyway.
   * @param {Owned} value
   */
  made(value) {
    const innermost = this.#open.at(-1);
    if (innermost) innermost.add(value);
    else value[KEY]();
  }

  /**
   * Runs `f` as if no scope were open.
   * @template T
   * @param {() => T} f
   */
  outside(f) {
    const open = this.#open.splice(0);
    try {
      return f();
    } finally {
      this.#open.push(...open);
    }
  }

  /**
   * Runs `f` in a new scope, and then disposes of all that it made, except what `keep` finds in its result.
   * @template T
   * @param {() => T} f
   * @param {(result: T) => Set<unknown>} [keep]
   */
  run(f, keep) {
    /** @type {Set<Owned>} */
    const made = new Set();
    this.#open.push(made);
    /** @type {Set<unknown> | undefined} */
    let kept;
    try {
      const result = f();
      kept = keep?.(result);
      return result;
    } finally {
      this.#open.pop();
      for (const value of made) {
        if (kept?.has(value)) this.made(value);
        else value.dispose();
      }
    }
  }
}

/**
 * The wanted values in a result: the result itself, or any in its arrays and plain objects, at any depth.
 * @param {unknown} result
 * @param {(value: unknown) => boolean} wanted
 */
export function collect(result, wanted) {
  const [found, seen, open] = [new Set(), new Set(), [result]];
  while (open.length > 0) {
    const value = open.pop();
    if (wanted(value)) found.add(value);
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      const proto = Object.getPrototypeOf(value);
      const plain = Array.isArray(value) || proto === Object.prototype || proto === null;
      if (plain) for (const part of Object.values(value)) open.push(part);
    }
  }
  return found;
}
