import type { TensorError } from './errors.js';
import type { init } from './init.js';
import type { KvCache } from './kv-cache.js';
import type { Tensor } from './tensor.js';

/** A GPU as the browser offers it, from {@link Context.enumerate}. */
export interface AdapterInfo {
  /** Its place in the list, to be handed to {@link Context.forAdapter}. */
  index: number;
  /** What the browser says of it: a name, a vendor, or as little as a family of chips. */
  name: string;
  /** The API behind it: `'webgpu'` in a browser. */
  backend: string;
  /** The kind of device; `'cpu'` is a software adapter, `'other'` what the browser does not tell. */
  deviceType: 'discrete-gpu' | 'integrated-gpu' | 'virtual-gpu' | 'cpu' | 'other';
}

/**
 * What {@link Context.warmup} can compile: any method of {@link Tensor} that gives tensors, `'empty'`, and `'kvCache'` for all that a
 * {@link KvCache} does.
 */
export type OpName =
  | 'empty'
  | 'kvCache'
  | { [K in keyof Tensor]: Tensor[K] extends (...args: never[]) => Tensor | readonly Tensor[] ? K : never }[keyof Tensor];

/**
 * A device, and all that is computed on it. Several contexts live side by side; their tensors never mix. A wrong argument throws a
 * {@link TensorError} at the call.
 * @example
 * ```js
 * const ctx = await Context.create();
 * const x = ctx.tensor([1, 2, 3, 4], [2, 2]);
 * console.log(await x.mm(x).toArray()); // Float32Array [7, 10, 15, 22]
 * ctx.destroy();
 * ```
 */
export class Context {
  /** Contexts come from {@link Context.create} and {@link Context.forAdapter}. */
  private constructor();

  /**
   * A context on the best adapter; loads the wasm if {@link init} has not.
   * @param options - which adapter is the best
   * @returns a Promise of the context
   * @throws {TensorError} Rejects with `no-webgpu`, `no-adapter`, `wasm-load`, or `invalid-argument` for another preference.
   */
  static create(options?: {
    /** Which adapter to try first, if there are two: `'high-performance'` unless given. */
    powerPreference?: 'high-performance' | 'low-power';
  }): Promise<Context>;

  /**
   * The adapters of the browser: 0 to 2, one for each power preference, or one if both name the same. `[]` without WebGPU.
   * @returns a Promise of the list
   * @throws {TensorError} Rejects with `wasm-load`; never for want of WebGPU or of an adapter.
   */
  static enumerate(): Promise<AdapterInfo[]>;

  /**
   * A context on one adapter of {@link Context.enumerate}.
   * @param index - its place in that list
   * @returns a Promise of the context
   * @throws {TensorError} Rejects with `no-adapter` for an index beyond the list, `invalid-argument` for what is no index,
   * `no-webgpu`, `wasm-load`.
   */
  static forAdapter(index: number): Promise<Context>;

  /** The API behind the context: `'webgpu'` in a browser. */
  readonly backend: string;

  /** What the browser says of the adapter. */
  readonly adapterName: string;

  /** Whether the adapter computes on the CPU: right numbers, no speed. */
  readonly isSoftware: boolean;

  /** Resolves when the device is lost, and never rejects. All that is pending then rejects with `device-lost`: make a new context. */
  readonly lost: Promise<{
    /** `'destroyed'` after {@link Context.destroy}; `'unknown'` for all else, such as a reset of the driver. */
    reason: 'destroyed' | 'unknown';
    /** What the browser says about it. */
    message: string;
  }>;

  /**
   * Uploads row-major values; `data` is copied before the call returns.
   * @param data - as many values as `shape` holds; numbers become 32-bit floats
   * @param shape - the sizes, outermost first; `[]` holds one value, and a size of 0 none
   * @returns a float32 tensor
   * @throws {TensorError} `shape-mismatch` if the number of values is another, `invalid-argument`, `limit-exceeded`,
   * `out-of-memory`, `device-lost`.
   * @example
   * ```js
   * const x = ctx.tensor([1, 2, 3, 4, 5, 6], [2, 3]); // rows [1, 2, 3] and [4, 5, 6]
   * ```
   */
  tensor(data: Float32Array | readonly number[], shape: readonly number[]): Tensor;

  /**
   * Uploads values to be stored as float16, in half the memory. Floats are rounded to the nearest half: ties to even, infinite from
   * ±65,520 on, NaN stays NaN. Plain numbers become 32-bit floats first.
   * @param data - as many values as `shape` holds; a `Uint16Array` holds the bits of halves, which are taken as they are
   * @param shape - the sizes, outermost first
   * @returns a float16 tensor
   * @throws {TensorError} `shape-mismatch` if the number of values is another, `invalid-argument`, `limit-exceeded`,
   * `out-of-memory`, `device-lost`.
   */
  tensorF16(
    data: Float32Array | Uint16Array | readonly number[] | (ArrayBufferView & { readonly [Symbol.toStringTag]: 'Float16Array' }),
    shape: readonly number[],
  ): Tensor;

  /**
   * A tensor of zeros, made on the device.
   * @param shape - the sizes, outermost first
   * @returns a float32 tensor
   * @throws {TensorError} `invalid-argument`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  empty(shape: readonly number[]): Tensor;

  /**
   * `a [m, k] · b [k, n]` of host arrays: upload, compute, read back. For more than one op in a row keep tensors on the device.
   * @param a - m·k values, row by row
   * @param b - k·n values, row by row
   * @param m - rows of `a`
   * @param k - columns of `a`, rows of `b`
   * @param n - columns of `b`
   * @returns a Promise of m·n values
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
  matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number): Promise<Float32Array>;

  /**
   * `scale · a [m, k] · b [n, k]ᵀ` of host arrays.
   * @param a - m·k values, row by row
   * @param b - n·k values, row by row
   * @param m - rows of `a`
   * @param n - rows of `b`
   * @param k - columns of both
   * @param scale - 1 unless given
   * @returns a Promise of m·n values
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
  matmulBt(a: Float32Array, b: Float32Array, m: number, n: number, k: number, scale?: number): Promise<Float32Array>;

  /**
   * `a + b` of host arrays, element by element.
   * @param a - any number of values
   * @param b - as many
   * @returns a Promise of the sums
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
  add(a: Float32Array, b: Float32Array): Promise<Float32Array>;

  /**
   * `x / (1 + e⁻ˣ)` of a host array, element by element.
   * @param x - any number of values
   * @returns a Promise of as many values
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
  silu(x: Float32Array): Promise<Float32Array>;

  /**
   * `eˣ / Σeˣ` for each row of a host array `x [rows, d]`; a row of -∞ alone is zeros.
   * @param x - rows·d values, row by row
   * @param rows - the number of rows
   * @param d - values in a row
   * @returns a Promise of rows·d values
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
  softmax(x: Float32Array, rows: number, d: number): Promise<Float32Array>;

  /**
   * `(x - mean) / √(var + eps) · weight + bias` for each row of a host array `x [rows, d]`.
   * @param x - rows·d values, row by row
   * @param weight - d values
   * @param bias - d values
   * @param rows - the number of rows
   * @param d - values in a row
   * @param eps - 1e-5 unless given
   * @returns a Promise of rows·d values
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
  layernorm(x: Float32Array, weight: Float32Array, bias: Float32Array, rows: number, d: number, eps?: number): Promise<Float32Array>;

  /**
   * `softmax(scale · q · kᵀ) · v` of host arrays: one head, no mask.
   * @param q - rowsQ·d values, row by row
   * @param k - rowsK·d values
   * @param v - rowsK·dv values
   * @param rowsQ - the number of queries
   * @param rowsK - the number of keys; none give zeros
   * @param d - values of a query and of a key
   * @param dv - values of a row of `v`, and of the result
   * @param scale - 1/√d unless given
   * @returns a Promise of rowsQ·dv values
   * @throws {TensorError} At the call: `shape-mismatch` if a length is another, `invalid-argument`, `limit-exceeded`,
   * `device-lost`. Rejects with `out-of-memory`, `device-lost`, `internal`.
   */
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

  /**
   * An empty cache of keys and values, whose memory is taken at once: twice `capacity · width` values.
   * @param capacity - rows at most
   * @param width - values in a row: heads · head size
   * @param dtype - how rows are stored; `'float32'` unless given
   * @returns the cache
   * @throws {TensorError} `invalid-argument`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  kvCache(capacity: number, width: number, dtype?: 'float32' | 'float16'): KvCache;

  /**
   * Compiles what these ops need, whatever the shapes, side by side and without blocking the page, so that the first call is as
   * fast as the next. What reads float16 directly is compiled by its first use.
   * @param ops - names of ops; all of them unless given
   * @param options - who hears of the progress
   * @returns a Promise that resolves when all is compiled
   * @throws {TensorError} At the call: `invalid-argument` for what is no name of an op, `device-lost`. Rejects with
   * `device-lost`, `internal`, or what `onProgress` threw.
   * @example
   * ```js
   * await ctx.warmup(['mm', 'softmax'], { onProgress: (done, total) => (bar.value = done / total) });
   * ```
   */
  warmup(
    ops?: readonly OpName[],
    options?: {
      /** Called with how many pipelines are done, and how many there are in all. */
      onProgress?: (done: number, total: number) => void;
    },
  ): Promise<void>;

  /**
   * The GPU memory that this context holds now.
   * @returns counts of this moment
   */
  memory(): {
    /** Buffers of live tensors and caches; a `dup` shares its source's. */
    tensors: number;
    /** Their bytes. */
    liveBytes: number;
    /** Bytes that are kept for reuse. */
    pooledBytes: number;
    /** The most bytes that were live at once. */
    peakBytes: number;
  };

  /**
   * Runs `f` and disposes of the tensors and caches that it made and did not return, also if it throws. They are kept if returned
   * alone, or in arrays and plain objects.
   * @param f - what to run; it must not be async, since the scope ends when it returns
   * @returns what `f` returned
   * @throws {TensorError} `invalid-argument` if `f` is no function or gives a Promise; and what `f` throws.
   * @example
   * ```js
   * const y = ctx.scope(() => a.mm(b).addBias(bias).softmax()); // only y is left
   * ```
   */
  scope<T>(f: () => T): T;

  /** Ends the device and frees its memory; pending reads reject with `device-lost`. Idempotent. */
  destroy(): void;

  /** As {@link Context.destroy}, for `using`. */
  [Symbol.dispose](): void;
}
