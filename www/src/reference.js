// The plain JavaScript that the GPU is held against: a matrix product with float64 sums, in slices that leave the page alive.
import { breathe } from './ui.js';

const SLICE_MS = 30;

/** out[j] = Σₖ a[i,k]·b[k,j] in float64; the loop order that reads b along its rows. */
function productRow(a, b, n, i, out) {
  out.fill(0);
  for (let k = 0; k < n; k++) {
    const x = a[i * n + k];
    const row = k * n;
    for (let j = 0; j < n; j++) out[j] += x * b[row + j];
  }
}

/** Computes the given rows of a·b; calls `each(i, row)` per row. Returns the milliseconds spent multiplying alone. */
export async function productRows(a, b, n, rows, each) {
  const out = new Float64Array(n);
  let spent = 0;
  let breath = performance.now();
  for (const i of rows) {
    const start = performance.now();
    productRow(a, b, n, i, out);
    const end = performance.now();
    spent += end - start;
    each(i, out);
    if (end - breath > SLICE_MS) {
      await breathe();
      breath = performance.now();
    }
  }
  return spent;
}

/** `count` row numbers spread evenly from the first to the last. */
export function spread(n, count) {
  return Array.from({ length: count }, (_, i) => Math.round((i * (n - 1)) / (count - 1)));
}
