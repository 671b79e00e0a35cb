/// <reference lib="esnext.disposable" />
// The published types as they were promised: contract.test.mjs holds js/index.d.ts to them.

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
export class TensorError extends Error {
  readonly code: ErrorCode;
}

/** Optional: Context.create() calls it. Idempotent, safe to call twice at once, can be retried after a failure. */
export function init(options?: { wasm?: string | URL | Request | Response | BufferSource | WebAssembly.Module }): Promise<void>;

export interface AdapterInfo {
  index: number;
  name: string;
  backend: string;
  deviceType: 'discrete-gpu' | 'integrated-gpu' | 'virtual-gpu' | 'cpu' | 'other';
}

export class Context {
  static create(options?: { powerPreference?: 'high-performance' | 'low-power' }): Promise<Context>; // Rust: new
  static enumerate(): Promise<AdapterInfo[]>; // [] where there is no WebGPU; never rejects for that
  static forAdapter(index: number): Promise<Context>;
  readonly backend: string;
  readonly adapterName: string;
  readonly isSoftware: boolean;
  readonly lost: Promise<{ reason: 'destroyed' | 'unknown'; message: string }>;

  tensor(data: Float32Array | readonly number[], shape: readonly number[]): Tensor;
  tensorF16(
    data: Float32Array | Uint16Array | readonly number[] | (ArrayBufferView & { readonly [Symbol.toStringTag]: 'Float16Array' }),
    shape: readonly number[],
  ): Tensor;
  empty(shape: readonly number[]): Tensor;

  matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number): Promise<Float32Array>;
  matmulBt(a: Float32Array, b: Float32Array, m: number, n: number, k: number, scale?: number): Promise<Float32Array>;
  add(a: Float32Array, b: Float32Array): Promise<Float32Array>;
  silu(x: Float32Array): Promise<Float32Array>;
  softmax(x: Float32Array, rows: number, d: number): Promise<Float32Array>;
  layernorm(x: Float32Array, weight: Float32Array, bias: Float32Array, rows: number, d: number, eps?: number): Promise<Float32Array>;
  attention(
    q: Float32Array,
    k: Float32Array,
    v: Float32Array,
    rowsQ: number,
    rowsK: number,
    d: number,
    dv: number,
    scale?: number,
  ): Promise<Float32Array>;

  kvCache(capacity: number, width: number, dtype?: 'float32' | 'float16'): KvCache;
  memory(): { tensors: number; liveBytes: number; pooledBytes: number; peakBytes: number };
  scope<T>(f: () => T): T; // disposes what f made and did not return (tensors, arrays and objects of them)
  destroy(): void;
  [Symbol.dispose](): void;
}

export class Tensor {
  readonly shape: readonly number[];
  readonly size: number;
  readonly dtype: 'float32' | 'float16';
  readonly disposed: boolean;
  toArray(): Promise<Float32Array>; // Rust: to_vec; always a fresh array
  to(dtype: 'float32' | 'float16'): Tensor; // Rust: to_dtype
  mm(b: Tensor): Tensor; // [m,k]·[k,n]
  mmBt(b: Tensor, scale?: number): Tensor; // scale·[m,k]·[n,k]ᵀ
  silu(): Tensor;
  sigmoid(): Tensor;
  sqrt(): Tensor;
  gelu(): Tensor;
  geluTanh(): Tensor;
  relu(): Tensor;
  add(b: Tensor): Tensor;
  sub(b: Tensor): Tensor;
  mul(b: Tensor): Tensor;
  div(b: Tensor): Tensor;
  mulScalar(s: Tensor | number): Tensor;
  addBias(bias: Tensor): Tensor;
  dup(shape: readonly number[]): Tensor;
  gather0(idx: Uint32Array | readonly number[]): Tensor;
  transpose2d(): Tensor;
  softmax(): Tensor;
  rmsnorm(w: Tensor, eps?: number): Tensor;
  layernorm(w: Tensor, b: Tensor, eps?: number): Tensor;
  rope(heads: number, base?: number): Tensor;
  ropeOff(heads: number, base: number, offset: number): Tensor;
  mhaDecode(k: Tensor, v: Tensor, heads: number, kvHeads: number, s?: number): Tensor;
  mhaCausal(k: Tensor, v: Tensor, heads: number, kvHeads: number): Tensor;
  mhaCausalOff(k: Tensor, v: Tensor, heads: number, kvHeads: number, offset: number): Tensor;
  attention(k: Tensor, v: Tensor, scale?: number): Tensor;
  dispose(): void;
  [Symbol.dispose](): void;
}

export class KvCache {
  readonly length: number;
  readonly capacity: number;
  readonly k: Tensor;
  readonly v: Tensor; // all capacity rows; pass length as s
  append(k: Tensor, v: Tensor): void;
  truncate(length: number): void;
  dispose(): void;
  [Symbol.dispose](): void;
}
