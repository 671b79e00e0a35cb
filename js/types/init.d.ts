import type { TensorError } from './errors.js';

/**
 * Loads the wasm. Optional: `Context.create()` calls it. Idempotent, safe to call twice at once. A failure is a {@link TensorError},
 * and the next call tries again.
 * @param options - where to get the wasm, if not from the file next to the module
 * @returns a Promise that resolves once the wasm runs
 * @throws {TensorError} Rejects with `wasm-load`: nothing there, not the wasm of this package, or a content security policy
 * without `'wasm-unsafe-eval'`.
 * @example
 * ```js
 * await init({ wasm: '/assets/tensorweft_bg.wasm' });
 * ```
 */
export function init(options?: {
  /**
   * A URL, a Response, the bytes, or a compiled module. Needed only where a bundler does not copy the file next to the module;
   * `new URL('tensorweft_bg.wasm', import.meta.url)` unless given.
   */
  wasm?: string | URL | Request | Response | BufferSource | WebAssembly.Module;
}): Promise<void>;
