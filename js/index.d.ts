/// <reference lib="esnext.disposable" />
/** Why an operation failed; stable across versions. */
export type ErrorCode = 'no-webgpu' | 'no-adapter' | 'shape-mismatch' | 'invalid-argument' | 'index-out-of-range' | 'limit-exceeded'
  | 'out-of-memory' | 'device-lost' | 'disposed' | 'wrong-context' | 'wasm-load' | 'internal';

/** Every failure of this package. The message names the op and the shapes. */
export class TensorError extends Error { readonly code: ErrorCode }

/**
 * Loads the wasm. Optional: `Context.create()` calls it. Idempotent, safe to call twice at once, can be retried after a failure.
 * Pass `wasm` where the bundler does not emit the file next to the module: a URL, a Response, bytes or a compiled module.
 */
export function init(options?: { wasm?: string | URL | Request | Response | BufferSource | WebAssembly.Module }): Promise<void>;

/** What `addBias` makes of each sum. */
export type Activation = 'relu' | 'silu' | 'gelu' | 'geluTanh';

/** A GPU as the browser offers it. */
export interface AdapterInfo { index: number; name: string; backend: string; deviceType: 'discrete-gpu' | 'integrated-gpu' | 'virtual-gpu' | 'cpu' | 'other' }

/** What `Context.warmup` can compile: a method of `Tensor`, `empty`, or `kvCache` for all that a cache does. */
export type OpName = 'empty' | 'kvCache' | 'mm' | 'mmBt' | 'silu' | 'sigmoid' | 'sqrt' | 'gelu' | 'geluTanh' | 'relu' | 'add' | 'sub' | 'mul' | 'div'
  | 'mulScalar' | 'addBias' | 'swiglu' | 'geglu' | 'gegluTanh' | 'addRmsnorm' | 'addLayernorm'
  | 'to' | 'dup' | 'gather0' | 'transpose2d' | 'softmax' | 'rmsnorm' | 'layernorm' | 'rope' | 'ropeOff'
  | 'mhaDecode' | 'mhaCausal' | 'mhaCausalOff' | 'attention';

/** A device, and all that is computed on it. Tensors of two contexts never mix. */
export class Context {
  /** A context on the best adapter. Rejects with `no-webgpu` or `no-adapter`, and what to do about it. */
  static create(options?: { powerPreference?: 'high-performance' | 'low-power' }): Promise<Context>;
  /** 0 to 2 adapters: one for each power preference, or one if they are the same. `[]` without WebGPU; never rejects for that. */
  static enumerate(): Promise<AdapterInfo[]>;
  /** A context on the adapter with this index in `enumerate()`. */
  static forAdapter(index: number): Promise<Context>;
  readonly backend: string; readonly adapterName: string;
  /** Whether the adapter computes on the CPU: right numbers, no speed. */
  readonly isSoftware: boolean;
  /** Settles when the device is lost; everything pending then rejects with `device-lost`. Make a new context to go on. */
  readonly lost: Promise<{ reason: 'destroyed' | 'unknown'; message: string }>;

  /** Uploads row-major values; `data` is copied before the call returns. */
  tensor(data: Float32Array | readonly number[], shape: readonly number[]): Tensor;
  /**
   * Uploads values to be stored as float16, in half the memory: floats are rounded to the nearest half (ties to even, infinite from
   * ±65,520 on), a `Uint16Array` holds the bits of halves. Numbers that are no 32-bit floats become such first.
   */
  tensorF16(data: Float32Array | Uint16Array | readonly number[] | (ArrayBufferView & { readonly [Symbol.toStringTag]: 'Float16Array' }), shape: readonly number[]): Tensor;
  /** A tensor of zeros, made on the device. */
  empty(shape: readonly number[]): Tensor;

  /** a `[m, k]` · b `[k, n]`: upload, compute, read back. For more than one op in a row, keep tensors on the device. */
  matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number): Promise<Float32Array>;
  /** scale · a `[m, k]` · b `[n, k]`ᵀ; `scale` is 1 unless given. */
  matmulBt(a: Float32Array, b: Float32Array, m: number, n: number, k: number, scale?: number): Promise<Float32Array>;
  /** a + b */
  add(a: Float32Array, b: Float32Array): Promise<Float32Array>;
  /** x / (1 + e⁻ˣ) */
  silu(x: Float32Array): Promise<Float32Array>;
  /** eˣ / Σeˣ for each row of x `[rows, d]`. */
  softmax(x: Float32Array, rows: number, d: number): Promise<Float32Array>;
  /** (x - mean) / √(var + eps) · weight + bias for each row of x `[rows, d]`; `eps` is 1e-5 unless given. */
  layernorm(x: Float32Array, weight: Float32Array, bias: Float32Array, rows: number, d: number, eps?: number): Promise<Float32Array>;
  /** softmax(scale · q · kᵀ) · v for q `[rowsQ, d]`, k `[rowsK, d]`, v `[rowsK, dv]`; `scale` is 1/√d unless given. */
  attention(q: Float32Array, k: Float32Array, v: Float32Array, rowsQ: number, rowsK: number, d: number, dv: number, scale?: number): Promise<Float32Array>;

  /** An empty cache of up to `capacity` rows of `width` keys and as many values, stored as `dtype`: float32 unless given. */
  kvCache(capacity: number, width: number, dtype?: 'float32' | 'float16'): KvCache;
  /**
   * Compiles what these ops need (all, unless given), whatever the shapes, side by side and beside the page, so that the first
   * call is as fast as the next; what reads float16 directly is compiled by its first use. `onProgress` hears how many
   * pipelines of how many are done.
   */
  warmup(ops?: readonly OpName[], options?: { onProgress?: (done: number, total: number) => void }): Promise<void>;
  /** GPU memory: buffers and bytes of live tensors and caches, bytes kept for reuse, and the most that was live at once. */
  memory(): { tensors: number; liveBytes: number; pooledBytes: number; peakBytes: number };
  /** Runs `f` and disposes of the tensors and caches that it made and did not return (alone, or in arrays and objects). */
  scope<T>(f: () => T): T;
  /** Ends the device and frees its memory. Idempotent. */
  destroy(): void; [Symbol.dispose](): void;
}

/**
 * Row-major values on the GPU. Ops take both dtypes, compute in float32 and give float32; `dup` keeps the dtype. Ops only queue work and never consume their inputs; `toArray()` is the only wait.
 * A wrong argument throws a `TensorError` at the call; a fault of the GPU rejects the `toArray()` of what it spoiled.
 */
export class Tensor {
  readonly shape: readonly number[]; readonly size: number; readonly dtype: 'float32' | 'float16'; readonly disposed: boolean;
  /** Waits for the values; always a fresh array. Reads that are started together share one wait. */
  toArray(): Promise<Float32Array>;
  /** The same values stored another way: rounded to float16 as by `tensorF16`, or exactly to float32. */
  to(dtype: 'float32' | 'float16'): Tensor;
  /** `[m,k]` · `[k,n]` */
  mm(b: Tensor): Tensor;
  /** scale · `[m,k]` · `[n,k]`ᵀ; `scale` is 1 unless given. */
  mmBt(b: Tensor, scale?: number): Tensor;
  /** x/(1+e⁻ˣ), 1/(1+e⁻ˣ), √x, x·Φ(x), GELU's tanh form, max(x,0) */
  silu(): Tensor; sigmoid(): Tensor; sqrt(): Tensor; gelu(): Tensor; geluTanh(): Tensor; relu(): Tensor;
  /** Elementwise, for tensors of one length; nothing is broadcast. */
  add(b: Tensor): Tensor; sub(b: Tensor): Tensor; mul(b: Tensor): Tensor; div(b: Tensor): Tensor;
  /** Times one number, or a tensor of one element; plus a bias as long as a row, and an activation of the sum in the same pass. */
  mulScalar(s: Tensor | number): Tensor; addBias(bias: Tensor): Tensor; addBias(bias: Tensor, activation?: Activation): Tensor;
  /** silu(this)·up, gelu(this)·up (exact), and the tanh form: a gated unit in one pass. */
  swiglu(up: Tensor): Tensor; geglu(up: Tensor): Tensor; gegluTanh(up: Tensor): Tensor;
  /** The same values under a new shape, without a copy; rows of a matrix by number; the transpose of a matrix. */
  dup(shape: readonly number[]): Tensor; gather0(idx: Uint32Array | readonly number[]): Tensor; transpose2d(): Tensor;
  /** Over the last dimension. A softmax row of -∞ alone is zeros; `eps` is 1e-5 unless given. */
  softmax(): Tensor; rmsnorm(w: Tensor, eps?: number): Tensor; layernorm(w: Tensor, b: Tensor, eps?: number): Tensor;
  /** A residual and the norm behind it, in one pass: this + r, and that sum's norm. */
  addRmsnorm(r: Tensor, w: Tensor, eps?: number): [sum: Tensor, normed: Tensor];
  addLayernorm(r: Tensor, w: Tensor, b: Tensor, eps?: number): [sum: Tensor, normed: Tensor];
  /** Rotary embedding (rotate-half) of `[t, heads·dh]`, row i at position i or i + offset; `base` is 10000 unless given. */
  rope(heads: number, base?: number): Tensor; ropeOff(heads: number, base: number, offset: number): Tensor;
  /** One query row against the first `s` rows of k and v `[≥s, kvHeads·dh]`; `s` is all rows unless given. */
  mhaDecode(k: Tensor, v: Tensor, heads: number, kvHeads: number, s?: number): Tensor;
  /** Causal attention with grouped heads: q `[t, heads·dh]`, k and v `[≥t, kvHeads·dh]`; query i sees keys 0..=i. */
  mhaCausal(k: Tensor, v: Tensor, heads: number, kvHeads: number): Tensor;
  /** The same over a cached prefix: query i sees keys 0..=offset+i. */
  mhaCausalOff(k: Tensor, v: Tensor, heads: number, kvHeads: number, offset: number): Tensor;
  /** A single head: softmax(scale · q · kᵀ) · v; `scale` is 1/√d unless given. */
  attention(k: Tensor, v: Tensor, scale?: number): Tensor;
  /** Gives the memory back once the queued work is done. Idempotent; a read that is pending still resolves. */
  dispose(): void; [Symbol.dispose](): void;
}

/** Rows of keys and values that grow on the GPU, up to a capacity; the rows never move. */
export class KvCache {
  readonly length: number; readonly capacity: number;
  /** All `capacity` rows; pass `length` as `s`. They belong to the cache and end with it. */
  readonly k: Tensor; readonly v: Tensor;
  /** Copies the rows of `k` and `v` behind those that are there; beyond the capacity it throws and writes nothing. */
  append(k: Tensor, v: Tensor): void; truncate(length: number): void;
  /** The same with `k` turned on its way (as `ropeOff`), each row at its position in the cache; `base` is 10000 unless given. */
  appendRope(k: Tensor, v: Tensor, heads: number, base?: number): void;
  dispose(): void; [Symbol.dispose](): void;
}
