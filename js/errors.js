// The one error class, and the function that throws it.

/** @import { ErrorCode, TensorError as Published } from './types/errors.js' */

/**
 * An error of this package. `code` is stable; the message begins with the op and shows the values that did not fit.
 * @implements {Published}
 */
export class TensorError extends Error {
  static name = 'TensorError'; // also when minified

  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'TensorError';
    this.code = code;
  }
}

/**
 * Throws the error of an op.
 * @param {string} op
 * @param {ErrorCode} code
 * @param {string} why
 * @returns {never}
 */
export function fail(op, code, why) {
  throw new TensorError(code, `${op}: ${why}`);
}
