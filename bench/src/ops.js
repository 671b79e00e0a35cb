// What each op takes, does and must give: inputs, work, and a check of sampled results against float64.
//
// Bounds are those of the package's contract for every library alike: products 2·√k·2⁻²⁴·Σ|ab|; elementwise 2e-6
// relative and 1e-7 absolute, 1e-5 where a transcendental dominates; softmax and norms 2e-6 of the row's largest value
// and 1e-7; attention 1e-5·max|v|.
import { random, scaled } from './data.js';

/** Where b of a product begins in the pool: a and b share no numbers in the same places. */
const APART = 4099;
export const EPS = 1e-5;
export const BASE = 10000;

/** `count` whole numbers from 0 to `n` - 1, with both ends, all over. */
export function spread(n, count) {
  const picked = new Set([0, n - 1]);
  for (let i = 1; picked.size < Math.min(n, count) && i <= 4 * count; i++) picked.add(Math.floor((i * 0.6180339887 % 1) * n));
  return [...picked].sort((a, b) => a - b);
}

/** Keeps the largest error as a part of its bound; a NaN is infinitely wrong. */
class Worst {
  part = 0;
  samples = 0;
  see(got, want, bound) {
    const part = Math.abs(got - want) / bound;
    this.part = Number.isFinite(part) ? Math.max(this.part, part) : Infinity;
    this.samples++;
  }
}

const elementwise = (want) => 2e-6 * Math.abs(want) + 1e-7;
const transcendental = (want) => 2e-6 * Math.abs(want) + 1e-5;

function product(transposed) {
  return ([m, k, n]) => {
    // As many on average out as in, so that chains neither vanish nor overflow.
    const factor = Math.sqrt(3 / k);
    const a = random(m * k);
    const b = scaled(random(k * n, APART), factor);
    const at = transposed ? (l, j) => b[j * k + l] : (l, j) => b[l * n + j];
    return {
      inputs: [{ data: a, shape: [m, k] }, { data: b, shape: transposed ? [n, k] : [k, n] }],
      out: [m, n],
      flops: 2 * m * k * n,
      bytes: 4 * (m * k + k * n + m * n),
      // What one row of a must read.
      weights: m <= 8 ? 4 * k * n : undefined,
      chains: n === k,
      check(rows, ids, worst) {
        const columns = spread(n, m < 8 ? 64 : 9);
        ids.forEach((i, r) => columns.forEach((j) => {
          let [sum, size] = [0, 0];
          for (let l = 0; l < k; l++) {
            const term = a[i * k + l] * at(l, j);
            sum += term;
            size += Math.abs(term);
          }
          worst.see(rows[r * n + j], sum, 2 * Math.sqrt(k) * 2 ** -24 * size);
        }));
      },
      sample: spread(m, 9),
    };
  };
}

/** Ops over rows; `want(x, w, b)` gives a whole row in float64. */
function overRows(extra, want) {
  return ([rows, d]) => {
    const x = scaled(random(rows * d), 4);
    const vectors = Array.from({ length: extra }, (_, i) => random(d, 17 * (i + 1)));
    return {
      inputs: [{ data: x, shape: [rows, d] }, ...vectors.map((data) => ({ data, shape: [d] }))],
      out: [rows, d],
      bytes: 8 * rows * d,
      chains: true,
      sample: spread(rows, 3),
      check(got, ids, worst) {
        ids.forEach((i, r) => {
          const row = want(x.subarray(i * d, (i + 1) * d), ...vectors);
          let top = 0;
          for (const v of row) top = Math.max(top, Math.abs(v));
          for (let j = 0; j < d; j++) worst.see(got[r * d + j], row[j], 2e-6 * top + 1e-7);
        });
      },
    };
  };
}

function softmaxRow(x) {
  let top = -Infinity;
  for (const v of x) top = Math.max(top, v);
  const row = Float64Array.from(x, (v) => Math.exp(v - top));
  let sum = 0;
  for (const v of row) sum += v;
  return row.map((v) => v / sum);
}

function layernormRow(x, w, b) {
  let mean = 0;
  for (const v of x) mean += v / x.length;
  let variance = 0;
  for (const v of x) variance += (v - mean) ** 2 / x.length;
  const scale = 1 / Math.sqrt(variance + EPS);
  return Float64Array.from(x, (v, i) => (v - mean) * scale * w[i] + b[i]);
}

function rmsnormRow(x, w) {
  let square = 0;
  for (const v of x) square += v ** 2 / x.length;
  const scale = 1 / Math.sqrt(square + EPS);
  return Float64Array.from(x, (v, i) => v * scale * w[i]);
}

/** Elementwise over [rows, d]; `want(i, j, at)` gives one element. */
function perElement({ second, reads, bound, want }) {
  return ([rows, d]) => {
    const x = random(rows * d);
    const y = second && random(second === 'row' ? d : rows * d, APART);
    return {
      inputs: [{ data: x, shape: [rows, d] }, ...(y ? [{ data: y, shape: second === 'row' ? [d] : [rows, d] }] : [])],
      out: [rows, d],
      bytes: 4 * (reads + 1) * rows * d,
      chains: true,
      sample: spread(rows, 3),
      check(got, ids, worst) {
        ids.forEach((i, r) => {
          for (let j = 0; j < d; j++) {
            const exact = want(x[i * d + j], y?.[second === 'row' ? j : i * d + j]);
            worst.see(got[r * d + j], exact, bound(exact));
          }
        });
      },
    };
  };
}

/** Φ(x) in float64, to about 1e-15: a series near 0, a continued fraction far out. */
export function normalCdf(x) {
  const z = Math.abs(x) / Math.SQRT2;
  let tail; // erfc(z)
  if (z < 2) {
    let [term, sum] = [z, z];
    for (let n = 1; n < 80; n++) {
      term *= (-z * z) / n;
      sum += term / (2 * n + 1);
    }
    tail = 1 - (2 / Math.sqrt(Math.PI)) * sum;
  } else {
    let fraction = z;
    for (let n = 80; n >= 1; n--) fraction = z + n / 2 / fraction;
    tail = Math.exp(-z * z) / Math.sqrt(Math.PI) / fraction;
  }
  return x > 0 ? 1 - tail / 2 : tail / 2;
}

function rope([t, heads, dh]) {
  const width = heads * dh;
  const half = dh / 2;
  const x = random(t * width);
  return {
    inputs: [{ data: x, shape: [t, width] }],
    out: [t, width],
    bytes: 8 * t * width,
    chains: true,
    heads,
    dh,
    sample: spread(t, 3),
    check(got, ids, worst) {
      ids.forEach((i, r) => {
        for (let c = 0; c < width; c++) {
          const j = (c % dh) % half;
          const angle = i * BASE ** ((-2 * j) / dh);
          const first = c % dh < half;
          const [a, b] = [x[i * width + c], x[i * width + (first ? c + half : c - half)]];
          const exact = a * Math.cos(angle) + (first ? -b : b) * Math.sin(angle);
          worst.see(got[r * width + c], exact, transcendental(exact));
        }
      });
    },
  };
}

function gather0([rows, d]) {
  // Every row once, far from its neighbour.
  const step = [7919, 1].find((s) => rows % s !== 0 || s === 1);
  const table = random(rows * d);
  const ids = Uint32Array.from({ length: rows }, (_, i) => (i * step) % rows);
  return {
    inputs: [{ data: table, shape: [rows, d] }, { data: ids, shape: [rows], ids: true }],
    out: [rows, d],
    bytes: 8 * rows * d,
    chains: true,
    sample: spread(rows, 3),
    check(got, picked, worst) {
      picked.forEach((i, r) => {
        for (let j = 0; j < d; j++) worst.see(got[r * d + j], table[ids[i] * d + j], 1e-30);
      });
    },
  };
}

function transpose2d([rows, d]) {
  const x = random(rows * d);
  return {
    inputs: [{ data: x, shape: [rows, d] }],
    out: [d, rows],
    bytes: 8 * rows * d,
    chains: false,
    sample: spread(d, Math.max(3, Math.ceil(64 / rows))),
    check(got, ids, worst) {
      ids.forEach((j, r) => {
        for (let i = 0; i < rows; i++) worst.see(got[r * rows + i], x[i * d + j], 1e-30);
      });
    },
  };
}

/** One query against keys 0 to `seen` - 1, as one head sees them. */
function attend({ q, k, v }, { query, seen, head, heads, kvHeads, dh }, see) {
  const [kv, width, kvWidth] = [Math.floor(head / (heads / kvHeads)), heads * dh, kvHeads * dh];
  const scores = new Float64Array(seen);
  for (let s = 0; s < seen; s++) {
    let dot = 0;
    for (let c = 0; c < dh; c++) dot += q[query * width + head * dh + c] * k[s * kvWidth + kv * dh + c];
    scores[s] = dot / Math.sqrt(dh);
  }
  const weights = softmaxRow(scores);
  const out = new Float64Array(dh);
  let top = 0;
  for (let s = 0; s < seen; s++) {
    for (let c = 0; c < dh; c++) {
      const value = v[s * kvWidth + kv * dh + c];
      out[c] += weights[s] * value;
      top = Math.max(top, Math.abs(value));
    }
  }
  out.forEach((want, c) => see(head * dh + c, want, 1e-5 * top));
}

function attention(decode) {
  return ([t, heads, kvHeads, dh]) => {
    const [width, kvWidth, queries] = [heads * dh, kvHeads * dh, decode ? 1 : t];
    const q = scaled(random(queries * width), 4); // so that some keys matter more than others
    const k = random(t * kvWidth, APART);
    const v = random(t * kvWidth, 2 * APART);
    return {
      inputs: [{ data: q, shape: [queries, width] }, { data: k, shape: [t, kvWidth] }, { data: v, shape: [t, kvWidth] }],
      out: [queries, width],
      // Causal: query i sees i + 1 keys, two products of dh for each.
      flops: decode ? undefined : 4 * heads * dh * ((t * (t + 1)) / 2),
      bytes: decode ? 8 * t * kvWidth : undefined,
      chains: true,
      heads,
      kvHeads,
      dh,
      sample: spread(queries, 5),
      check(rows, ids, worst) {
        ids.forEach((i, r) => {
          for (const head of spread(heads, decode ? 4 : 2)) {
            const place = { query: i, seen: decode ? t : i + 1, head, heads, kvHeads, dh };
            attend({ q, k, v }, place, (at, want, bound) => worst.see(rows[r * width + at], want, bound));
          }
        });
      },
    };
  };
}

const OPS = {
  mm: product(false),
  mmBt: product(true),
  softmax: overRows(0, softmaxRow),
  layernorm: overRows(2, layernormRow),
  rmsnorm: overRows(1, rmsnormRow),
  rope,
  add: perElement({ second: 'all', reads: 2, bound: elementwise, want: (a, b) => a + b }),
  addBias: perElement({ second: 'row', reads: 1, bound: elementwise, want: (a, b) => a + b }),
  silu: perElement({ reads: 1, bound: transcendental, want: (a) => a / (1 + Math.exp(-a)) }),
  gelu: perElement({ reads: 1, bound: transcendental, want: (a) => a * normalCdf(a) }),
  gather0,
  transpose2d,
  causal: attention(false),
  decode: attention(true),
};

/** What a row works on: `{ inputs, out, flops, bytes, weights, chains, sample, check }`. */
export const taskOf = ({ op, dims }) => OPS[op](dims);

/** The largest error of sampled rows as a part of its bound; 1 and less is right. `readRows(ids)` gives whole rows. */
export async function verify(task, readRows) {
  const worst = new Worst();
  task.check(await readRows(task.sample, task.out[1]), task.sample, worst);
  if (worst.samples < 64) throw new Error(`only ${worst.samples} samples were compared`);
  return { error: worst.part, samples: worst.samples };
}
