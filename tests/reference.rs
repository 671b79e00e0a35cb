//! The ops as plain loops in float64: what the GPU is measured against. Formulas of one line are in the table itself.
//!
//! Letters: `m k n` of a product, `d` row length, `t` queries, `s` keys, `h` heads, `dh` head size.

/// a [m,k], b [k,n] -> [m,n]
pub(crate) fn mm(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f64> {
    let mut y = vec![0.0; m * n];
    for i in 0..m {
        for l in 0..k {
            let x = f64::from(a[i * k + l]);
            for j in 0..n {
                y[i * n + j] += x * f64::from(b[l * n + j]);
            }
        }
    }
    y
}

/// scale · a [m,k] · b [n,k]ᵀ -> [m,n]
pub(crate) fn mm_bt(a: &[f32], b: &[f32], m: usize, n: usize, k: usize, scale: f32) -> Vec<f64> {
    let mut y = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for l in 0..k {
                sum += f64::from(a[i * k + l]) * f64::from(b[j * k + l]);
            }
            y[i * n + j] = f64::from(scale) * sum;
        }
    }
    y
}

pub(crate) fn relu(x: f64) -> f64 {
    if x.is_nan() { x } else { x.max(0.0) }
}

pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

pub(crate) fn silu(x: f64) -> f64 {
    x * sigmoid(x)
}

pub(crate) fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + libm::erf(x / 2f64.sqrt()))
}

pub(crate) fn gelu_tanh(x: f64) -> f64 {
    let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
    0.5 * x * (1.0 + u.tanh())
}

/// a [.., d] + bias [d] -> [.., d]
pub(crate) fn add_bias(a: &[f32], bias: &[f32]) -> Vec<f64> {
    a.iter().enumerate().map(|(i, &a)| f64::from(a) + f64::from(bias[i % bias.len()])).collect()
}

/// data [.., d], idx [n] -> [n,d]
pub(crate) fn gather0(data: &[f32], idx: &[u32], d: usize) -> Vec<f64> {
    idx.iter().flat_map(|&i| &data[i as usize * d..][..d]).map(|&x| f64::from(x)).collect()
}

/// x [rows,cols] -> [cols,rows]
pub(crate) fn transpose2d(x: &[f32], rows: usize, cols: usize) -> Vec<f64> {
    let mut y = vec![0.0; rows * cols];
    for i in 0..rows {
        for j in 0..cols {
            y[j * rows + i] = f64::from(x[i * cols + j]);
        }
    }
    y
}

/// One row in place. A row of nothing but -inf becomes zeros; a NaN spreads over its row.
fn softmax_row(row: &mut [f64]) {
    if row.iter().all(|&x| x == f64::NEG_INFINITY) {
        return row.fill(0.0);
    }
    let max = row.iter().fold(f64::NEG_INFINITY, |max, &x| max.max(x));
    let mut sum = 0.0;
    for x in row.iter_mut() {
        *x = (*x - max).exp();
        sum += *x;
    }
    row.iter_mut().for_each(|x| *x /= sum);
}

/// x [rows,d] -> [rows,d]
pub(crate) fn softmax(x: &[f32], d: usize) -> Vec<f64> {
    let mut y = widen(x);
    y.chunks_exact_mut(d.max(1)).for_each(softmax_row);
    y
}

/// x [rows,d], w [d] -> [rows,d]: x / √(mean(x²) + eps) · w
pub(crate) fn rmsnorm(x: &[f32], w: &[f32], eps: f32) -> Vec<f64> {
    let mut y = widen(x);
    for row in y.chunks_exact_mut(w.len().max(1)) {
        let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
        let rms = (mean + f64::from(eps)).sqrt();
        for (x, &w) in row.iter_mut().zip(w) {
            *x = *x / rms * f64::from(w);
        }
    }
    y
}

/// x [rows,d], w [d], b [d] -> [rows,d]: (x - mean) / √(var + eps) · w + b, with the biased variance
pub(crate) fn layernorm(x: &[f32], w: &[f32], b: &[f32], eps: f32) -> Vec<f64> {
    let mut y = widen(x);
    for row in y.chunks_exact_mut(w.len().max(1)) {
        let n = row.len() as f64;
        let mean = row.iter().sum::<f64>() / n;
        let var = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let std = (var + f64::from(eps)).sqrt();
        for (i, x) in row.iter_mut().enumerate() {
            *x = (*x - mean) / std * f64::from(w[i]) + f64::from(b[i]);
        }
    }
    y
}

/// x [t, h·dh] -> [t, h·dh]: values j and j + dh/2 of a head are a pair, turned by
/// (row + offset) · base^(-2j/dh)
pub(crate) fn rope(x: &[f32], h: usize, dh: usize, base: f32, offset: usize) -> Vec<f64> {
    let mut y = widen(x);
    let half = dh / 2;
    for (row, values) in y.chunks_exact_mut((h * dh).max(1)).enumerate() {
        for head in values.chunks_exact_mut(dh) {
            for j in 0..half {
                let frequency = f64::from(base).powf(-2.0 * j as f64 / dh as f64);
                let (sin, cos) = ((row + offset) as f64 * frequency).sin_cos();
                let (a, b) = (head[j], head[j + half]);
                head[j] = a * cos - b * sin;
                head[j + half] = b * cos + a * sin;
            }
        }
    }
    y
}

/// The heads of grouped-query attention.
#[derive(Clone, Copy)]
pub(crate) struct Heads {
    pub(crate) hq: usize,
    pub(crate) hkv: usize,
    pub(crate) dh: usize,
}

/// q [t, hq·dh], k and v [.., hkv·dh] -> [t, hq·dh]; query i sees the first `sees(i)` keys.
fn mha(q: &[f32], k: &[f32], v: &[f32], t: usize, heads: Heads, sees: impl Fn(usize) -> usize) -> Vec<f64> {
    let Heads { hq, hkv, dh } = heads;
    let scale = 1.0 / (dh as f64).sqrt();
    let mut y = vec![0.0; t * hq * dh];
    for i in 0..t {
        for h in 0..hq {
            let kv = h / (hq / hkv);
            let q = &q[(i * hq + h) * dh..][..dh];
            let key = |j: usize| &k[(j * hkv + kv) * dh..][..dh];
            let value = |j: usize| &v[(j * hkv + kv) * dh..][..dh];
            attend(q, key, value, sees(i), scale, &mut y[(i * hq + h) * dh..][..dh]);
        }
    }
    y
}

/// One query: y = softmax(scale · q · keysᵀ) · values, over the first s keys; zeros over none.
fn attend<'a>(
    q: &[f32],
    key: impl Fn(usize) -> &'a [f32],
    value: impl Fn(usize) -> &'a [f32],
    s: usize,
    scale: f64,
    y: &mut [f64],
) {
    let mut p: Vec<f64> = (0..s)
        .map(|j| {
            let dot: f64 = q.iter().zip(key(j)).map(|(&q, &k)| f64::from(q) * f64::from(k)).sum();
            scale * dot
        })
        .collect();
    softmax_row(&mut p);
    for (j, p) in p.into_iter().enumerate() {
        for (y, &v) in y.iter_mut().zip(value(j)) {
            *y += p * f64::from(v);
        }
    }
}

/// q [1, hq·dh], k and v [≥ s, hkv·dh] -> [1, hq·dh]
pub(crate) fn mha_decode(q: &[f32], k: &[f32], v: &[f32], heads: Heads, s: usize) -> Vec<f64> {
    mha(q, k, v, 1, heads, |_| s)
}

/// q [t, hq·dh], k and v [≥ offset + t, hkv·dh] -> [t, hq·dh]; query i sees keys 0..=offset+i
pub(crate) fn mha_causal(q: &[f32], k: &[f32], v: &[f32], t: usize, heads: Heads, offset: usize) -> Vec<f64> {
    mha(q, k, v, t, heads, |i| offset + i + 1)
}

/// q [rq,d], k [rk,d], v [rk,dv] -> [rq,dv]
#[allow(clippy::too_many_arguments, reason = "the op's own arguments")]
pub(crate) fn attention(
    q: &[f32],
    k: &[f32],
    v: &[f32],
    rq: usize,
    rk: usize,
    d: usize,
    dv: usize,
    scale: f32,
) -> Vec<f64> {
    let mut y = vec![0.0; rq * dv];
    for i in 0..rq {
        let key = |j: usize| &k[j * d..][..d];
        let value = |j: usize| &v[j * dv..][..dv];
        attend(&q[i * d..][..d], key, value, rk, f64::from(scale), &mut y[i * dv..][..dv]);
    }
    y
}

/// The nearest value that f16 has, ties to even.
pub(crate) fn half(x: f32) -> f32 {
    // The distance of halves near x: 2⁻¹⁰ of x's power of two, and no less than 2⁻²⁴.
    let exponent = (x.abs().to_bits() >> 23) as i32 - 127;
    let step = 2f64.powi(exponent.max(-14) - 10);
    let nearest = (f64::from(x) / step).round_ties_even() * step;
    // The largest half: the next step would be 65,536.
    if nearest.abs() > 65_504.0 { f32::INFINITY.copysign(x) } else { nearest as f32 }
}

pub(crate) fn widen(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}
