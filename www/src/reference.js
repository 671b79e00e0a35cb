// The matrix product in plain JavaScript that the GPU's is compared with. It adds in float64, and pauses so that the page stays alive.
import { breathe } from './ui.js';

const SLICE_MS = 30;

/** out[j] = Σₖ a[i,k]·b[k,j] in float64. The loops are nested so that b is read row by row. */
function productRow(a, b, n, i, out) {
  out.fill(0);
  for (let k = 0; k < n; k++) {
    const x = a[i * n + k];
    const row = k * n;
    for (let j = 0; j < n; j++) out[j] += x * b[row + j];
  }
}

/** Computes the given rows of a·b, and calls `each(i, row)` for each. Resolves to the milliseconds that the products alone took. */
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
