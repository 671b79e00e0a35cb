// Types of the module that wasm-bindgen makes of src/js/, for the type check of this folder; tests/package/glue.test.mjs compares
// them with the built module. A context `c`, a tensor and a cache are numbers on this side: handles.

import type { AdapterInfo, Context } from './types/context.js';
import type { ErrorCode, TensorError } from './types/errors.js';

export default function load(source: { module_or_path: WebAssembly.Module }): Promise<{ memory: WebAssembly.Memory }>;
export function setup(makeError: (code: ErrorCode, message: string) => TensorError): void;
export function shapeAddress(): number;
export function shapeOf(tensor: number): Uint32Array;

export function contextCreate(lowPower: boolean): Promise<number>;
export function contextAt(index: number): Promise<number>;
export function contextList(): Promise<AdapterInfo[]>;
export function contextInfo(c: number): Pick<Context, 'backend' | 'adapterName' | 'isSoftware'>;
export function contextLost(c: number): Context['lost'];
export function contextMemory(c: number): ReturnType<Context['memory']>;
export function contextDestroy(c: number): void;
export function contextFree(c: number): void;
export function warmup(c: number, ops?: string[], progress?: (done: number, total: number) => void): Promise<void>;

export function upload(c: number, data: Float32Array, shape: Uint32Array, f16: boolean): number;
export function uploadBits(c: number, words: Uint16Array, length: number, shape: Uint32Array): number;
export function empty(c: number, shape: Uint32Array): number;
export function read(c: number, tensor: number): Promise<Float32Array>;
export function free(tensor: number): void;

export function cacheCreate(c: number, capacity: number, width: number, f16: boolean): number;
export function cacheAppend(cache: number, k: number, v: number): void;
export function cacheAppendRope(cache: number, k: number, v: number, heads: number, base: number): void;
export function cacheTruncate(cache: number, length: number): void;
export function cacheLength(cache: number): number;
export function cacheK(cache: number): number;
export function cacheV(cache: number): number;
export function cacheFree(cache: number): void;

export function scale(c: number, x: number, s: number): number;
export function mulScalar(c: number, x: number, s: number): number;

/**
 * The ops of the table in ops.js, which the module exports by their names. `x` is the tensor that the op is called on, `rest` what the
 * table makes of the arguments. Gives the handle of the result, or a list of handles.
 */
export type Op = (c: number, x: number, ...rest: unknown[]) => number | Uint32Array;
