//! What each op takes, does and must give: inputs, work, and a check of sampled results against float64. As bench/src/ops.js.

use std::rc::Rc;

use super::{Row, Run};

pub(crate) const EPS: f32 = 1e-5;
pub(crate) const BASE: f32 = 10_000.0;
/// Where the second input begins in the stream of random numbers.
const APART: usize = 4099;

#[derive(Clone)]
pub(crate) enum Input {
    Values(Rc<[f32]>, Vec<usize>),
    Ids(Rc<[u32]>),
}

type Check = Box<dyn Fn(&[f32], &[usize], &mut Worst)>;

pub(crate) struct Task {
    pub(crate) inputs: Vec<Input>,
    /// Rows and columns of the result.
    pub(crate) out: [usize; 2],
    pub(crate) flops: Option<f64>,
    pub(crate) bytes: Option<f64>,
    pub(crate) weights: Option<f64>,
    sample: Vec<usize>,
    check: Option<Check>,
}

/// Keeps the largest error as a part of its bound; a NaN is infinitely wrong.
pub(crate) struct Worst {
    part: f64,
    samples: usize,
}

impl Worst {
    fn see(&mut self, got: f32, want: f64, bound: f64) {
        let part = (f64::from(got) - want).abs() / bound;
        self.part = if part.is_finite() { self.part.max(part) } else { f64::INFINITY };
        self.samples += 1;
    }
}

/// Numbers from -1 to 1: `length` of one endless stream, from `at` on.
fn random(length: usize, at: usize) -> Vec<f32> {
    let mut x = 0x9e37_79b9u32;
    let next = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        (f64::from(x as i32) / 2_147_483_648.0) as f32
    };
    std::iter::repeat_with(next).skip(at).take(length).collect()
}

fn scaled(mut values: Vec<f32>, factor: f64) -> Vec<f32> {
    values.iter_mut().for_each(|v| *v = (f64::from(*v) * factor) as f32);
    values
}

/// `count` whole numbers below `n`, with both ends, all over.
fn spread(n: usize, count: usize) -> Vec<usize> {
    let mut picked = vec![0, n - 1];
    let places = (1..=4 * count).map(|i| ((i as f64 * 0.618_033_988_7).fract() * n as f64) as usize);
    for place in places {
        if picked.len() < count.min(n) && !picked.contains(&place) {
            picked.push(place);
        }
    }
    picked.sort_unstable();
    picked.dedup();
    picked
}

fn transcendental(want: f64) -> f64 {
    2e-6 * want.abs() + 1e-5
}

fn elementwise(want: f64) -> f64 {
    2e-6 * want.abs() + 1e-7
}

/// Φ(x) to about 1e-15: a series near 0, a continued fraction far out.
fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let tail = if z < 2.0 {
        let (mut term, mut sum) = (z, z);
        for n in 1..80 {
            let n = f64::from(n);
            term *= -z * z / n;
            sum += term / (2.0 * n + 1.0);
        }
        1.0 - std::f64::consts::FRAC_2_SQRT_PI * sum
    } else {
        let fraction = (1..=80).rev().fold(z, |fraction, n| z + f64::from(n) / 2.0 / fraction);
        (-z * z).exp() / std::f64::consts::PI.sqrt() / fraction
    };
    if x > 0.0 { 1.0 - tail / 2.0 } else { tail / 2.0 }
}

fn softmax(x: &[f64]) -> Vec<f64> {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let row: Vec<f64> = x.iter().map(|v| (v - top).exp()).collect();
    let sum: f64 = row.iter().sum();
    row.into_iter().map(|v| v / sum).collect()
}

impl Task {
    fn new(inputs: Vec<Input>, out: [usize; 2], sample: Vec<usize>, check: Check) -> Self {
        Self { inputs, out, flops: None, bytes: None, weights: None, sample, check: Some(check) }
    }

    fn moving(self, bytes: usize) -> Self {
        Self { bytes: Some(bytes as f64), ..self }
    }

    pub(crate) fn of(row: &Row) -> Self {
        let dims = &row.dims[..];
        match (row.op.as_str(), dims) {
            ("mm", &[m, k, n]) => product([m, k, n], false),
            ("mmBt", &[m, k, n]) => product([m, k, n], true),
            ("softmax", &[rows, d]) => over_rows(rows, d, 0, |x, _| softmax(x)),
            ("layernorm", &[rows, d]) => over_rows(rows, d, 2, |x, vectors| {
                let n = x.len() as f64;
                let mean = x.iter().sum::<f64>() / n;
                let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
                let scale = 1.0 / (variance + f64::from(EPS)).sqrt();
                let affine = vectors[0].iter().zip(&vectors[1][..]);
                x.iter().zip(affine).map(|(v, (w, b))| (v - mean) * scale * f64::from(*w) + f64::from(*b)).collect()
            }),
            ("rmsnorm", &[rows, d]) => over_rows(rows, d, 1, |x, vectors| {
                let square = x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64;
                let scale = 1.0 / (square + f64::from(EPS)).sqrt();
                x.iter().zip(&vectors[0][..]).map(|(v, w)| v * scale * f64::from(*w)).collect()
            }),
            ("rope", &[t, heads, dh]) => rope(t, heads, dh),
            ("add", &[rows, d]) => per_element(rows, d, Some(rows * d), elementwise, |a, b| a + b),
            ("addBias", &[rows, d]) => per_element(rows, d, Some(d), elementwise, |a, b| a + b),
            ("silu", &[rows, d]) => per_element(rows, d, None, transcendental, |a, _| a / (1.0 + (-a).exp())),
            ("gelu", &[rows, d]) => per_element(rows, d, None, transcendental, |a, _| a * normal_cdf(a)),
            ("gather0", &[rows, d]) => gather(rows, d),
            ("transpose2d", &[rows, d]) => transpose(rows, d),
            ("causal", &[t, heads, kv, dh]) => attention(t, heads, kv, dh, false),
            ("decode", &[t, heads, kv, dh]) => attention(t, heads, kv, dh, true),
            ("chain", &[n, length]) => chain(n, length),
            ("record", &[length]) => {
                let x = Input::Values(random(length, 0).into(), vec![1, length]);
                Self { check: None, ..Self::new(vec![x], [1, length], vec![], Box::new(|_, _, _| ())) }
            }
            ("readback" | "upload", &[length]) => {
                let x: Rc<[f32]> = random(length, 0).into();
                let want = x.clone();
                let check: Check = Box::new(move |got, _, worst| {
                    got.iter().zip(&want[..]).for_each(|(got, want)| worst.see(*got, f64::from(*want), 1e-30));
                });
                Self::new(vec![Input::Values(x, vec![1, length])], [1, length], vec![0], check).moving(4 * length)
            }
            _ => panic!("no op {} over {dims:?}", row.op),
        }
    }

    /// The largest error of sampled rows as a part of its bound, and how many numbers were compared.
    pub(crate) fn verify(&self, run: &mut dyn Run) -> Option<(f64, usize)> {
        let check = self.check.as_ref()?;
        let got = run.rows(&self.sample, self.out[1]);
        assert_eq!(got.len(), self.sample.len() * self.out[1], "rows of {} numbers", self.out[1]);
        let mut worst = Worst { part: 0.0, samples: 0 };
        check(&got, &self.sample, &mut worst);
        assert!(worst.samples >= 64, "only {} samples were compared", worst.samples);
        Some((worst.part, worst.samples))
    }

    /// Speed in the unit of the row's limit.
    pub(crate) fn speed(&self, ms: f64) -> String {
        match (self.weights, self.flops, self.bytes) {
            (Some(bytes), _, _) | (None, None, Some(bytes)) => format!("{:.4} GB/s", bytes / ms / 1e6),
            (None, Some(flops), _) => format!("{:.4} TFLOP/s", flops / ms / 1e9),
            _ => format!("{:.2} us", ms * 1000.0),
        }
    }
}

fn product([m, k, n]: [usize; 3], transposed: bool) -> Task {
    let a: Rc<[f32]> = random(m * k, 0).into();
    // As many on average out as in, so that chains neither vanish nor overflow.
    let b: Rc<[f32]> = scaled(random(k * n, APART), (3.0 / k as f64).sqrt()).into();
    let shape = if transposed { vec![n, k] } else { vec![k, n] };
    let inputs = vec![Input::Values(a.clone(), vec![m, k]), Input::Values(b.clone(), shape)];
    let check: Check = Box::new(move |got, ids, worst| {
        let columns = spread(n, if m < 8 { 64 } else { 9 });
        for (r, i) in ids.iter().enumerate() {
            for j in &columns {
                let (mut sum, mut size) = (0.0, 0.0);
                for l in 0..k {
                    let at = if transposed { j * k + l } else { l * n + j };
                    let term = f64::from(a[i * k + l]) * f64::from(b[at]);
                    sum += term;
                    size += term.abs();
                }
                worst.see(got[r * n + j], sum, 2.0 * (k as f64).sqrt() * 2f64.powi(-24) * size);
            }
        }
    });
    Task {
        flops: Some(2.0 * m as f64 * k as f64 * n as f64),
        weights: (m <= 8).then_some(4.0 * k as f64 * n as f64),
        ..Task::new(inputs, [m, n], spread(m, 9), check).moving(4 * (m * k + k * n + m * n))
    }
}

/// A whole row of a result, from a row of x and the vectors.
type RowOf = fn(&[f64], &[Rc<[f32]>]) -> Vec<f64>;

fn over_rows(rows: usize, d: usize, extra: usize, want: RowOf) -> Task {
    let x: Rc<[f32]> = scaled(random(rows * d, 0), 4.0).into();
    let vectors: Vec<Rc<[f32]>> = (1..=extra).map(|i| random(d, 17 * i).into()).collect();
    let mut inputs = vec![Input::Values(x.clone(), vec![rows, d])];
    inputs.extend(vectors.iter().map(|v| Input::Values(v.clone(), vec![d])));
    let check: Check = Box::new(move |got, ids, worst| {
        for (r, i) in ids.iter().enumerate() {
            let row: Vec<f64> = x[i * d..(i + 1) * d].iter().map(|v| f64::from(*v)).collect();
            let want = want(&row, &vectors);
            let top = want.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
            want.iter().enumerate().for_each(|(j, want)| worst.see(got[r * d + j], *want, 2e-6 * top + 1e-7));
        }
    });
    Task::new(inputs, [rows, d], spread(rows, 3), check).moving(8 * rows * d)
}

/// Elementwise; the second input has `second` elements, a whole matrix or one row.
fn per_element(rows: usize, d: usize, second: Option<usize>, bound: fn(f64) -> f64, want: fn(f64, f64) -> f64) -> Task {
    let x: Rc<[f32]> = random(rows * d, 0).into();
    let y: Option<Rc<[f32]>> = second.map(|length| random(length, APART).into());
    let mut inputs = vec![Input::Values(x.clone(), vec![rows, d])];
    inputs.extend(y.iter().map(|y| Input::Values(y.clone(), if y.len() == d { vec![d] } else { vec![rows, d] })));
    let reads = 1 + usize::from(second == Some(rows * d));
    let check: Check = Box::new(move |got, ids, worst| {
        for (r, i) in ids.iter().enumerate() {
            for j in 0..d {
                let other = y.as_ref().map_or(0.0, |y| f64::from(y[(i * d + j) % y.len()]));
                let exact = want(f64::from(x[i * d + j]), other);
                worst.see(got[r * d + j], exact, bound(exact));
            }
        }
    });
    Task::new(inputs, [rows, d], spread(rows, 3), check).moving(4 * (reads + 1) * rows * d)
}

fn rope(t: usize, heads: usize, dh: usize) -> Task {
    let (width, half) = (heads * dh, dh / 2);
    let x: Rc<[f32]> = random(t * width, 0).into();
    let inputs = vec![Input::Values(x.clone(), vec![t, width])];
    let check: Check = Box::new(move |got, ids, worst| {
        for (r, i) in ids.iter().enumerate() {
            for c in 0..width {
                let (j, first) = (c % dh % half, c % dh < half);
                let angle = *i as f64 * f64::from(BASE).powf(-2.0 * j as f64 / dh as f64);
                let a = f64::from(x[i * width + c]);
                let b = f64::from(x[i * width + if first { c + half } else { c - half }]);
                let exact = a * angle.cos() + if first { -b } else { b } * angle.sin();
                worst.see(got[r * width + c], exact, transcendental(exact));
            }
        }
    });
    Task::new(inputs, [t, width], spread(t, 3), check).moving(8 * t * width)
}

fn gather(rows: usize, d: usize) -> Task {
    // Every row once, far from its neighbour.
    let step = if rows.is_multiple_of(7919) { 1 } else { 7919 };
    let table: Rc<[f32]> = random(rows * d, 0).into();
    let ids: Rc<[u32]> = (0..rows).map(|i| (i * step % rows) as u32).collect();
    let inputs = vec![Input::Values(table.clone(), vec![rows, d]), Input::Ids(ids.clone())];
    let check: Check = Box::new(move |got, picked, worst| {
        for (r, i) in picked.iter().enumerate() {
            let at = ids[*i] as usize * d;
            (0..d).for_each(|j| worst.see(got[r * d + j], f64::from(table[at + j]), 1e-30));
        }
    });
    Task::new(inputs, [rows, d], spread(rows, 3), check).moving(8 * rows * d)
}

fn transpose(rows: usize, d: usize) -> Task {
    let x: Rc<[f32]> = random(rows * d, 0).into();
    let inputs = vec![Input::Values(x.clone(), vec![rows, d])];
    let check: Check = Box::new(move |got, ids, worst| {
        for (r, j) in ids.iter().enumerate() {
            (0..rows).for_each(|i| worst.see(got[r * rows + i], f64::from(x[i * d + j]), 1e-30));
        }
    });
    Task::new(inputs, [d, rows], spread(d, 3.max(64usize.div_ceil(rows))), check).moving(8 * rows * d)
}

fn attention(t: usize, heads: usize, kv_heads: usize, dh: usize, decode: bool) -> Task {
    let (width, kv_width, queries) = (heads * dh, kv_heads * dh, if decode { 1 } else { t });
    let q: Rc<[f32]> = scaled(random(queries * width, 0), 4.0).into(); // so that some keys matter more than others
    let k: Rc<[f32]> = random(t * kv_width, APART).into();
    let v: Rc<[f32]> = random(t * kv_width, 2 * APART).into();
    let inputs = vec![
        Input::Values(q.clone(), vec![queries, width]),
        Input::Values(k.clone(), vec![t, kv_width]),
        Input::Values(v.clone(), vec![t, kv_width]),
    ];
    let check: Check = Box::new(move |got, ids, worst| {
        for (r, i) in ids.iter().enumerate() {
            for head in spread(heads, if decode { 4 } else { 2 }) {
                let (seen, at) = (if decode { t } else { i + 1 }, head / (heads / kv_heads) * dh);
                let query = &q[i * width + head * dh..][..dh];
                let key = |s: usize| &k[s * kv_width + at..][..dh];
                let dot = |s| query.iter().zip(key(s)).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum::<f64>();
                let weights = softmax(&(0..seen).map(|s| dot(s) / (dh as f64).sqrt()).collect::<Vec<_>>());
                let (mut out, mut top) = (vec![0.0; dh], 0.0f64);
                for (s, weight) in weights.iter().enumerate() {
                    for (out, v) in out.iter_mut().zip(&v[s * kv_width + at..][..dh]) {
                        *out += weight * f64::from(*v);
                        top = top.max(f64::from(v.abs()));
                    }
                }
                out.iter()
                    .enumerate()
                    .for_each(|(c, want)| worst.see(got[r * width + head * dh + c], *want, 1e-5 * top));
            }
        }
    });
    let task = Task::new(inputs, [queries, width], spread(queries, 5), check);
    if decode {
        return task.moving(8 * t * kv_width);
    }
    // Query i sees i + 1 keys, two products of dh for each.
    Task { flops: Some(4.0 * (heads * dh) as f64 * (t * (t + 1) / 2) as f64), ..task }
}

/// `n` small additions, each on the result before it, then a read.
fn chain(n: usize, length: usize) -> Task {
    let x: Rc<[f32]> = random(length, 0).into();
    let b: Rc<[f32]> = scaled(random(length, APART), 1.0 / n as f64).into();
    let inputs = vec![Input::Values(x.clone(), vec![1, length]), Input::Values(b.clone(), vec![1, length])];
    let check: Check = Box::new(move |got, _, worst| {
        for (i, got) in got.iter().enumerate() {
            let (x, steps) = (f64::from(x[i]), n as f64 * f64::from(b[i]));
            worst.see(*got, x + steps, n as f64 * 2f64.powi(-24) * (x.abs() + steps.abs()));
        }
    });
    Task::new(inputs, [1, length], vec![0], check)
}
