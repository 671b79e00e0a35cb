import type { Context } from './context.js';
import type { TensorError } from './errors.js';
import type { Tensor } from './tensor.js';

/**
 * Rows of keys and values that grow on the GPU up to a capacity, from {@link Context.kvCache}; rows that are there never move. A wrong
 * argument throws a {@link TensorError} at the call, and nothing is written.
 * @example
 * ```js
 * const cache = ctx.kvCache(2048, kvHeads * headSize);
 * cache.appendRope(k, v, kvHeads);
 * const y = q.ropeOff(heads, 10000, cache.length - 1).mhaDecode(cache.k, cache.v, heads, kvHeads, cache.length);
 * ```
 */
export class KvCache {
  /** Caches come from {@link Context.kvCache}. */
  private constructor();

  /**
   * How many rows were appended and not truncated.
   * @throws {TensorError} `disposed`.
   */
  readonly length: number;

  /** How many rows fit. */
  readonly capacity: number;

  /**
   * The keys, `[capacity, width]`: all rows, of which the first `length` count; pass `length` as `s` to {@link Tensor.mhaDecode}.
   * Later appends show in it. It belongs to the cache and is disposed with it.
   * @throws {TensorError} `disposed`.
   */
  readonly k: Tensor;

  /**
   * The values, `[capacity, width]`, just as the keys.
   * @throws {TensorError} `disposed`.
   */
  readonly v: Tensor;

  /**
   * Copies rows behind those that are there, converting them to the dtype of the cache.
   * @param k - keys, `[t, width]`
   * @param v - as many values, `[t, width]`
   * @throws {TensorError} `index-out-of-range` beyond the capacity, `shape-mismatch`, `invalid-argument`, `disposed`,
   * `wrong-context`, `out-of-memory`, `device-lost`; then nothing is written.
   */
  append(k: Tensor, v: Tensor): void;

  /**
   * As {@link KvCache.append} with `k` turned on its way, each row by its position in the cache, as {@link Tensor.ropeOff} does.
   * @param k - keys, `[t, heads · dh]` with an even head size dh
   * @param v - as many values, `[t, width]`
   * @param heads - heads in a row of keys
   * @param base - of the angles; 10000 unless given
   * @throws {TensorError} As {@link KvCache.append}, and `invalid-argument` if `heads` does not divide the width into heads of
   * even size, or for a `base` that is not positive; then nothing is written.
   */
  appendRope(k: Tensor, v: Tensor, heads: number, base?: number): void;

  /**
   * Forgets the rows from `length` on, to be overwritten by the next append.
   * @param length - rows to keep; if there are fewer, nothing changes
   * @throws {TensorError} `invalid-argument`, `disposed`.
   */
  truncate(length: number): void;

  /** Gives the memory back once the queued work is done; `k` and `v` are disposed too. Idempotent. */
  dispose(): void;

  /** As {@link KvCache.dispose}, for `using`. */
  [Symbol.dispose](): void;
}
