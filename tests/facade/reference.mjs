// Every op as plain loops in float64: the specification that the facade's numbers are held against.

const each = (n, f) => Array.from({ length: n }, (_, i) => f(i));

/** Repeatable values in [-1, 1), exact in f32. */
export function values(n, seed = 1) {
  let state = (seed * 2654435761) >>> 0;
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 23 - 1;
  });
}

/** a [m,k] · b [k,n] */
export const mm = (a, b, m, k, n) =>
  each(m * n, (o) => each(k, (i) => a[Math.floor(o / n) * k + i] * b[i * n + (o % n)]).reduce((x, y) => x + y, 0));

/** scale · a [m,k] · b [n,k]ᵀ */
export const mmBt = (a, b, m, n, k, scale = 1) =>
  each(m * n, (o) => scale * each(k, (i) => a[Math.floor(o / n) * k + i] * b[(o % n) * k + i]).reduce((x, y) => x + y, 0));

/** The error function as its Maclaurin series: exact to rounding for |x| < 4. */
function erf(x) {
  let term = x;
  let sum = x;
  for (let n = 1; n < 100; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

export const unary = {
  silu: (x) => x / (1 + Math.exp(-x)),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  sqrt: Math.sqrt,
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  geluTanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  relu: (x) => Math.max(x, 0),
};

export const binary = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  swiglu: (gate, up) => unary.silu(gate) * up,
  geglu: (gate, up) => unary.gelu(gate) * up,
  gegluTanh: (gate, up) => unary.geluTanh(gate) * up,
};

const rows = (x, d, f) => each(x.length / d, (r) => f(Array.from(x.slice(r * d, (r + 1) * d)))).flat();

export const softmax = (x, d) =>
  rows(x, d, (row) => {
    const top = Math.max(...row);
    const exps = row.map((v) => Math.exp(v - top));
    const sum = exps.reduce((a, b) => a + b, 0);
    return exps.map((e) => e / sum);
  });

const mean = (row) => row.reduce((a, b) => a + b, 0) / row.length;

export const rmsnorm = (x, w, d, eps = 1e-5) =>
  rows(x, d, (row) => {
    const norm = Math.sqrt(mean(row.map((v) => v * v)) + eps);
    return row.map((v, i) => (v / norm) * w[i]);
  });

export const layernorm = (x, w, b, d, eps = 1e-5) =>
  rows(x, d, (row) => {
    const m = mean(row);
    const deviation = Math.sqrt(mean(row.map((v) => (v - m) ** 2)) + eps);
    return row.map((v, i) => ((v - m) / deviation) * w[i] + b[i]);
  });

/** x [t, heads·dh], rotate-half, row i at position i + offset */
export function rope(x, t, heads, base = 10000, offset = 0) {
  const width = x.length / t;
  const dh = width / heads;
  const half = dh / 2;
  const out = Array.from(x);
  for (let row = 0; row < t; row++) {
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < half; i++) {
        const angle = (row + offset) * base ** ((-2 * i) / dh);
        const at = row * width + head * dh + i;
        out[at] = x[at] * Math.cos(angle) - x[at + half] * Math.sin(angle);
        out[at + half] = x[at + half] * Math.cos(angle) + x[at] * Math.sin(angle);
      }
    }
  }
  return out;
}

/** softmax(scale·q·kᵀ)·v with q [rq,d], k [rk,d], v [rk,dv]; `sees(i, j)` masks keys */
export function attention(q, k, v, rq, rk, d, dv, scale = 1 / Math.sqrt(d), sees = () => true) {
  const out = [];
  for (let i = 0; i < rq; i++) {
    const keys = each(rk, (j) => j).filter((j) => sees(i, j));
    const weights = softmax(
      keys.map((j) => scale * each(d, (c) => q[i * d + c] * k[j * d + c]).reduce((x, y) => x + y, 0)),
      keys.length,
    );
    for (let c = 0; c < dv; c++) out.push(keys.reduce((sum, j, at) => sum + weights[at] * v[j * dv + c], 0));
  }
  return out;
}

/** q [t, hq·dh], k and v [s, hkv·dh]; query i sees keys 0..=offset+i */
export function mha(q, k, v, t, s, hq, hkv, dh, offset) {
  const head = (x, n, heads, h) => each(n * dh, (i) => x[Math.floor(i / dh) * heads * dh + h * dh + (i % dh)]);
  const out = new Array(t * hq * dh);
  for (let h = 0; h < hq; h++) {
    const g = Math.floor(h / (hq / hkv));
    const y = attention(
      head(q, t, hq, h),
      head(k, s, hkv, g),
      head(v, s, hkv, g),
      t,
      s,
      dh,
      dh,
      1 / Math.sqrt(dh),
      (i, j) => j <= offset + i,
    );
    y.forEach((value, i) => {
      out[Math.floor(i / dh) * hq * dh + h * dh + (i % dh)] = value;
    });
  }
  return out;
}

export const transpose = (x, r, c) => each(r * c, (o) => x[(o % r) * c + Math.floor(o / r)]);
