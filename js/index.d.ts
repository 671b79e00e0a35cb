/// <reference lib="esnext.disposable" />
/**
 * Tensor computing on WebGPU: make a {@link Context}, upload {@link Tensor}s, call ops on them, read back with {@link Tensor.toArray}.
 *
 * Ops only queue work. A wrong argument throws a {@link TensorError} at the call; a fault that the GPU reports later rejects the
 * Promises of what it spoiled, and no others. Every Promise settles.
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
