import type { Context } from './context.js';
import type { TensorError } from './errors.js';
import type { KvCache } from './kv-cache.js';

/** What {@link Tensor.addBias} makes of each sum: the op of that name. */
export type Activation = 'relu' | 'silu' | 'gelu' | 'geluTanh';

/**
 * Row-major values on the GPU, from {@link Context.tensor} or an op. Immutable, and freed by `dispose()`, `using` or `Context.scope`.
 *
 * Ops only queue work and never consume their inputs; {@link Tensor.toArray} is the only wait. They take float32 and float16, compute
 * in float32 and give float32 (`dup` and `to` aside). "Row" is the last dimension. A wrong argument throws a {@link TensorError} at
 * the call; a fault that the GPU reports later rejects the `toArray()` of what it spoiled, and of nothing else.
 * @example
 * ```js
 * const y = x.rmsnorm(w).mmBt(weights).addBias(bias, 'gelu');
 * console.log(y.shape, await y.toArray());
 * y.dispose();
 * ```
 */
export class Tensor {
  /** Tensors come from {@link Context.tensor}, {@link Context.tensorF16}, {@link Context.empty} and from ops. */
  private constructor();

  /** The sizes, outermost first; frozen. */
  readonly shape: readonly number[];

  /** The number of values: the product of the shape. */
  readonly size: number;

  /** How the values are stored. */
  readonly dtype: 'float32' | 'float16';

  /** Whether `dispose()` was called, by hand or by a scope: then every op throws `disposed`. */
  readonly disposed: boolean;

  /**
   * Waits for the values. Reads that are started together (`Promise.all`) share one submit and one wait.
   * @returns a Promise of a fresh array of `size` values
   * @throws {TensorError} At the call: `disposed`, `device-lost`. Rejects with `out-of-memory` (of the GPU, or of the page for
   * the array), `device-lost`, `internal`.
   */
  toArray(): Promise<Float32Array>;

  /**
   * The same values stored another way: rounded to float16 as by {@link Context.tensorF16}, or exactly to float32.
   * @param dtype - how to store them
   * @returns a tensor of that dtype; without a copy if it is stored so already
   * @throws {TensorError} `invalid-argument`, `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  to(dtype: 'float32' | 'float16'): Tensor;

  /**
   * The matrix product `this [m, k] · b [k, n]`. Over k = 0 it is zeros.
   * @param b - `[k, n]`
   * @returns `[m, n]`
   * @throws {TensorError} `shape-mismatch` unless both are matrices of one k; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   * @example
   * ```js
   * ctx.tensor([1, 2, 3, 4], [2, 2]).mm(ctx.tensor([1, 1], [2, 1])); // [[3], [7]]
   * ```
   */
  mm(b: Tensor): Tensor;

  /**
   * `scale · this [m, k] · b [n, k]ᵀ`: a dense layer whose weights are stored row by output.
   * @param b - `[n, k]`
   * @param scale - 1 unless given
   * @returns `[m, n]`
   * @throws {TensorError} `shape-mismatch` unless both are matrices of one k; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  mmBt(b: Tensor, scale?: number): Tensor;

  /**
   * `x / (1 + e⁻ˣ)`, element by element.
   * @returns a tensor of this shape
   * @throws {TensorError} `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  silu(): Tensor;

  /**
   * `1 / (1 + e⁻ˣ)`, element by element.
   * @returns a tensor of this shape
   * @throws {TensorError} `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  sigmoid(): Tensor;

  /**
   * `√x`, element by element; NaN where x is negative.
   * @returns a tensor of this shape
   * @throws {TensorError} `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  sqrt(): Tensor;

  /**
   * `x · Φ(x)`, element by element: the exact GELU, by the error function.
   * @returns a tensor of this shape
   * @throws {TensorError} `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  gelu(): Tensor;

  /**
   * `x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))`, element by element: GELU's tanh form.
   * @returns a tensor of this shape
   * @throws {TensorError} `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  geluTanh(): Tensor;

  /**
   * `max(x, 0)`, element by element.
   * @returns a tensor of this shape
   * @throws {TensorError} `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  relu(): Tensor;

  /**
   * `this + b`, element by element; nothing is broadcast.
   * @param b - as many values; its shape may be another
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  add(b: Tensor): Tensor;

  /**
   * `this - b`, element by element; nothing is broadcast.
   * @param b - as many values; its shape may be another
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  sub(b: Tensor): Tensor;

  /**
   * `this · b`, element by element; nothing is broadcast. The matrix product is {@link Tensor.mm}.
   * @param b - as many values; its shape may be another
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  mul(b: Tensor): Tensor;

  /**
   * `this / b`, element by element; nothing is broadcast.
   * @param b - as many values; its shape may be another
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  div(b: Tensor): Tensor;

  /**
   * `this · s`: every element times one number.
   * @param s - a number (as a 32-bit float; NaN and ±∞ too), or a tensor of one element
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the tensor `s` has not exactly one element; `invalid-argument`, `disposed`,
   * `wrong-context`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  mulScalar(s: Tensor | number): Tensor;

  /**
   * `out[i] = this[i] + bias[i % d]`: the same row added to every row.
   * @param bias - `[d]`, as long as a row
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if `bias` is not as long as a row; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  addBias(bias: Tensor): Tensor;

  /**
   * `out[i] = activation(this[i] + bias[i % d])`: a dense layer's bias and activation in one pass.
   * @param bias - `[d]`, as long as a row
   * @param activation - of each sum; none unless given
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if `bias` is not as long as a row; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  addBias(bias: Tensor, activation?: Activation): Tensor;

  /**
   * `silu(this) · up`, element by element, in one pass: the gated unit of Llama.
   * @param up - as many values as the gate, `this`
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  swiglu(up: Tensor): Tensor;

  /**
   * `gelu(this) · up` with the exact GELU, element by element, in one pass.
   * @param up - as many values as the gate, `this`
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  geglu(up: Tensor): Tensor;

  /**
   * `geluTanh(this) · up`, element by element, in one pass: the gated unit of Gemma.
   * @param up - as many values as the gate, `this`
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if the lengths differ; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  gegluTanh(up: Tensor): Tensor;

  /**
   * The same values under a new shape, without a copy; disposed of on its own. Keeps the dtype.
   * @param shape - of as many elements
   * @returns a tensor of that shape
   * @throws {TensorError} `shape-mismatch` if the number of elements is another; `invalid-argument`, `disposed`,
   * `limit-exceeded`.
   */
  dup(shape: readonly number[]): Tensor;

  /**
   * `out[i, :] = this[idx[i], :]`: rows of a table `[v, d]` by their numbers, such as embeddings by token.
   * @param idx - n row numbers below v, in any order
   * @returns `[n, d]`
   * @throws {TensorError} `index-out-of-range` for a row that is not there; `shape-mismatch` unless this is a matrix;
   * `invalid-argument`, `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  gather0(idx: Uint32Array | readonly number[]): Tensor;

  /**
   * `thisᵀ`: `[rows, cols]` → `[cols, rows]`.
   * @returns `[cols, rows]`
   * @throws {TensorError} `shape-mismatch` unless this is a matrix; `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  transpose2d(): Tensor;

  /**
   * `eˣ / Σeˣ` over each row. -∞ weighs nothing, and a row of -∞ alone is zeros.
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` for the shape `[]`; `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  softmax(): Tensor;

  /**
   * `x / √(mean(x²) + eps) · w` over each row of d.
   * @param w - `[d]`
   * @param eps - 1e-5 unless given
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if `w` is not as long as a row; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  rmsnorm(w: Tensor, eps?: number): Tensor;

  /**
   * `(x - mean) / √(mean((x - mean)²) + eps) · w + b` over each row of d.
   * @param w - `[d]`
   * @param b - `[d]`
   * @param eps - 1e-5 unless given
   * @returns a tensor of this shape
   * @throws {TensorError} `shape-mismatch` if `w` or `b` is not as long as a row; `invalid-argument`, `disposed`,
   * `wrong-context`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  layernorm(w: Tensor, b: Tensor, eps?: number): Tensor;

  /**
   * A residual and the norm behind it in one pass: `sum = this + r`, and {@link Tensor.rmsnorm} of that sum.
   * @param r - as many values
   * @param w - `[d]`, as long as a row
   * @param eps - 1e-5 unless given
   * @returns both, each of this shape and disposed of on its own
   * @throws {TensorError} `shape-mismatch` if a length is another; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  addRmsnorm(r: Tensor, w: Tensor, eps?: number): [sum: Tensor, normed: Tensor];

  /**
   * A residual and the norm behind it in one pass: `sum = this + r`, and {@link Tensor.layernorm} of that sum.
   * @param r - as many values
   * @param w - `[d]`, as long as a row
   * @param b - `[d]`
   * @param eps - 1e-5 unless given
   * @returns both, each of this shape and disposed of on its own
   * @throws {TensorError} `shape-mismatch` if a length is another; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  addLayernorm(r: Tensor, w: Tensor, b: Tensor, eps?: number): [sum: Tensor, normed: Tensor];

  /**
   * Rotary embedding of `[t, heads · dh]`, rotate-half as in Llama and NeoX: in each head the pair (j, j + dh/2) turns by
   * `position · base^(-2j/dh)`; row i is at position i.
   * @param heads - heads in a row
   * @param base - 10000 unless given
   * @returns a tensor of this shape
   * @throws {TensorError} `invalid-argument` if `heads` does not divide a row into heads of even size, or `base` is not positive;
   * `shape-mismatch` unless this is a matrix; `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  rope(heads: number, base?: number): Tensor;

  /**
   * As {@link Tensor.rope} with row i at position i + offset; angles are exact at any position.
   * @param heads - heads in a row
   * @param base - 10000 in most models; has no default here
   * @param offset - the position of the first row
   * @returns a tensor of this shape
   * @throws {TensorError} As {@link Tensor.rope}: `invalid-argument`, also for positions beyond 2³² - 1; `shape-mismatch`,
   * `disposed`, `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  ropeOff(heads: number, base: number, offset: number): Tensor;

  /**
   * One query row `[1, heads · dh]` against cached keys: `softmax(q · kᵀ / √dh) · v` for each head, where query head h reads kv head
   * ⌊h / (heads / kvHeads)⌋.
   * @param k - keys, `[≥ s, kvHeads · dh]`, such as {@link KvCache.k}
   * @param v - values of the same shape
   * @param heads - query heads, a multiple of `kvHeads`
   * @param kvHeads - heads of keys and values
   * @param s - how many rows of `k` and `v` count; all of them unless given
   * @returns `[1, heads · dh]`
   * @throws {TensorError} `shape-mismatch`, `invalid-argument` for heads that do not divide, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  mhaDecode(k: Tensor, v: Tensor, heads: number, kvHeads: number, s?: number): Tensor;

  /**
   * Causal attention of a whole sequence `[t, heads · dh]` in one pass: as {@link Tensor.mhaDecode}, but query i sees keys 0 to i.
   * @param k - keys, `[≥ t, kvHeads · dh]`
   * @param v - values of the same shape
   * @param heads - query heads, a multiple of `kvHeads`
   * @param kvHeads - heads of keys and values
   * @returns `[t, heads · dh]`
   * @throws {TensorError} `shape-mismatch`, `invalid-argument` for heads that do not divide, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  mhaCausal(k: Tensor, v: Tensor, heads: number, kvHeads: number): Tensor;

  /**
   * As {@link Tensor.mhaCausal} over a cached prefix: query i is at position offset + i, and sees keys 0 to offset + i.
   * @param k - keys, `[≥ offset + t, kvHeads · dh]`, such as {@link KvCache.k}
   * @param v - values of the same shape
   * @param heads - query heads, a multiple of `kvHeads`
   * @param kvHeads - heads of keys and values
   * @param offset - rows of the prefix
   * @returns `[t, heads · dh]`
   * @throws {TensorError} `shape-mismatch`, `invalid-argument` for heads that do not divide, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  mhaCausalOff(k: Tensor, v: Tensor, heads: number, kvHeads: number, offset: number): Tensor;

  /**
   * A single head without a mask: `softmax(scale · this · kᵀ) · v` for queries `[rq, d]`. No keys give zeros.
   * @param k - `[rk, d]`
   * @param v - `[rk, dv]`
   * @param scale - 1/√d unless given
   * @returns `[rq, dv]`
   * @throws {TensorError} `shape-mismatch` unless all are matrices that fit; `invalid-argument`, `disposed`, `wrong-context`,
   * `limit-exceeded`, `out-of-memory`, `device-lost`.
   */
  attention(k: Tensor, v: Tensor, scale?: number): Tensor;

  /** Gives the memory back once the queued work is done; a read that is pending still resolves. Idempotent. */
  dispose(): void;

  /** As {@link Tensor.dispose}, for `using`. */
  [Symbol.dispose](): void;
}
