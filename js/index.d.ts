/// <reference lib="esnext.disposable" />
/**
 * Tensor computing on WebGPU: make a {@link Context}, upload {@link Tensor}s, call ops on them, read back with {@link Tensor.toArray}.
 *
 * Ops only queue work. A wrong argument throws a {@link TensorError} at the call; a fault that the GPU reports later rejects the
 * Promises of what it spoiled, and no others. Every Promise settles.
 *
 * ```js
 * import { Context } from 'tensorweft';
 *
 * const ctx = await Context.create();
 * const x = ctx.tensor([1, 2, 3, 4, 5, 6], [2, 3]);
 * const w = ctx.tensor([1, 0, 0, 1, 1, 1], [3, 2]);
 * const y = ctx.scope(() => x.mm(w).softmax()); // queued; intermediate tensors are gone after this line
 * console.log(await y.toArray()); // the one wait
 * ctx.destroy();
 * ```
 *
 * @packageDocumentation
 */

export type { AdapterInfo, OpName } from './types/context.js';
export { Context } from './types/context.js';
export type { ErrorCode } from './types/errors.js';
export { TensorError } from './types/errors.js';
export { init } from './types/init.js';
export { KvCache } from './types/kv-cache.js';
export type { Activation } from './types/tensor.js';
export { Tensor } from './types/tensor.js';
