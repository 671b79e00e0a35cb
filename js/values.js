// Tells what a value is, and shows it in error messages.

const tag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

/**
 * The type of a typed array by name, `undefined` for any other value. Unlike `instanceof` it knows arrays of another window, and is
 * not deceived by a Proxy.
 * @param {unknown} value
 * @returns {string | undefined}
 */
export const typeOf = (value) => tag?.get?.call(value);

/**
 * The name of an object's class, if it has one.
 * @param {any} value
 * @returns {string | undefined}
 */
export function className(value) {
  try {
    const { name } = value.constructor;
    return typeof name === 'string' && name ? name : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A value in one line, with enough of it to find the mistake. Never throws, even if the value's getters do.
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
  try {
    return typeof value === 'object' && value !== null ? showObject(value) : brief(value);
  } catch {
    return 'an object';
  }
}

/** How many elements or properties of an object, and how many characters of a string, are shown. */
const SHOWN = 4;
const STRING_SHOWN = 40;

/** @param {any} value */
function showObject(value) {
  const type = typeOf(value);
  if (type !== undefined || Array.isArray(value)) {
    const first = Array.from({ length: Math.min(value.length, SHOWN) }, (_, i) => brief(value[i]));
    return `${type ? `${type} ` : ''}[${list(first, value.length)}]`;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    const keys = Object.keys(value);
    const first = keys.slice(0, SHOWN).map((key) => `${key}: ${brief(value[key])}`);
    return keys.length === 0 ? '{}' : `{ ${list(first, keys.length)} }`;
  }
  const named = brief(value);
  if (named === 'a Tensor' && Array.isArray(value.shape)) return `a Tensor of shape [${value.shape.join(', ')}]`;
  return named === 'a Promise' ? 'a Promise (is an await missing?)' : named;
}

/**
 * @param {string[]} first
 * @param {number} all
 */
const list = (first, all) => [...first, ...(all > first.length ? [`… ${all} in all`] : [])].join(', ');

/**
 * A value in a word or two: objects by their class only.
 * @param {any} value
 */
function brief(value) {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.length > STRING_SHOWN ? `${value.slice(0, STRING_SHOWN)}…` : value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return typeof value.name === 'string' && value.name ? `the function ${value.name}` : 'a function';
    case 'object': {
      if (value === null) return 'null';
      const name = className(value) ?? 'object';
      return `${/^[AEIOo]/.test(name) ? 'an' : 'a'} ${name}`;
    }
    default:
      return String(value);
  }
}
