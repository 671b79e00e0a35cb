// Scopes: what is made while one is open belongs to it, and ends with it unless it is returned.

import { KEY } from './handles.js';

/**
 * A tensor or a cache. Its method KEY registers it with the garbage collector.
 * @typedef {{ dispose(): void, [KEY](): void }} Owned
 */

/** The open scopes of a context, the innermost last. */
export class Scopes {
  /** @type {Set<Owned>[]} */
  #open = [];

  /**
   * Takes in what was just made: the innermost scope owns it. Without a scope it is registered with the garbage collector; since
   * that costs as much as an op, what a scope will dispose of is not.
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
   * Runs `f` in a scope of its own and disposes of all it made but what `keep` finds in its result.
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
 * All that is wanted of a result: itself, or what is in its arrays and plain objects, however deep.
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
