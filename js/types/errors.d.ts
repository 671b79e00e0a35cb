/**
 * Why a call failed; stable across versions.
 *
 * - `no-webgpu`: no WebGPU here, or the page is not secure (neither https nor localhost)
 * - `no-adapter`: WebGPU has no adapter to offer, or it refused a device
 * - `shape-mismatch`: lengths or shapes do not fit
 * - `invalid-argument`: a value of the wrong type; -1, 1.5, NaN or 2³² as a size; heads that do not divide a row
 * - `index-out-of-range`: a row number outside the table, or rows beyond a cache's capacity
 * - `limit-exceeded`: more elements or bytes than the adapter or the kernels can address
 * - `out-of-memory`: the GPU has no memory left, or the page none for a read: dispose of tensors and try again
 * - `device-lost`: the GPU was reset, or the context destroyed: make a new one
 * - `disposed`: a tensor or cache was used after its `dispose()`
 * - `wrong-context`: tensors of two contexts in one op
 * - `wasm-load`: the wasm could not be loaded: wrong path, wrong file, or a content security policy that forbids it
 * - `internal`: a fault of a driver or of this library: please report it
 */
export type ErrorCode =
  | 'no-webgpu'
  | 'no-adapter'
  | 'shape-mismatch'
  | 'invalid-argument'
  | 'index-out-of-range'
  | 'limit-exceeded'
  | 'out-of-memory'
  | 'device-lost'
  | 'disposed'
  | 'wrong-context'
  | 'wasm-load'
  | 'internal';

/**
 * Every failure of this package. The message begins with the call, and shows the values or shapes that did not fit.
 * @example
 * ```js
 * try {
 *   a.mm(b);
 * } catch (error) {
 *   if (error instanceof TensorError && error.code === 'shape-mismatch') console.log(error.message);
 * }
 * ```
 */
export class TensorError extends Error {
  /** What to test for in a program; the message is for people and may change. */
  readonly code: ErrorCode;
}
