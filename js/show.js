// Values as error messages show them.

/**
 * The name of a value's class. Never throws, whatever the value does when it is asked.
 * @param {any} value
 * @returns {string}
 */
export function className(value) {
  try {
    return value.constructor.name;
  } catch {
    return 'no class';
  }
}

/**
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return `an object of ${className(value)}`;
  return typeof value === 'function' ? 'a function' : String(value);
}
