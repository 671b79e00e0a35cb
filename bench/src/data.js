// Random inputs: one pool of numbers from -1 to 1, the same in every run, which all rows cut theirs from.

let pool = new Float32Array(0);

/** The first `length` numbers from `at` on. Shared, so not to be written to. */
export function random(length, at = 0) {
  const wanted = length + at;
  if (pool.length < wanted) {
    const grown = new Float32Array(Math.max(wanted, 1 << 20));
    // xorshift32, from the start each time: a longer pool begins as the shorter one did.
    let x = 0x9e3779b9;
    for (let i = 0; i < grown.length; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      grown[i] = x / 2147483648;
    }
    pool = grown;
  }
  return pool.subarray(at, wanted);
}

/** A scaled copy. */
export function scaled(values, factor) {
  const copy = new Float32Array(values.length);
  for (let i = 0; i < copy.length; i++) copy[i] = values[i] * factor;
  return copy;
}

export const releaseData = () => {
  pool = new Float32Array(0);
};
