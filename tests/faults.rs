//! Faults that were once there: values at which a kernel overflowed or took a number for "nothing", and shapes at which
//! it did work for values that are not there.

use tensorweft::{Context, Tensor};

use crate::check::{Rng, bound, close, read_all};
use crate::reference::{self, Heads};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
const MAX: f32 = f32::MAX;

/// The score of key j of s.
type Score = fn(usize, usize) -> f32;

const SCORES: [(&str, Score); 14] = [
    ("all lowest", |_, _| -MAX),
    ("all below -3e38", |_, _| -3.3e38),
    ("all highest", |_, _| MAX),
    ("lowest and highest", |j, _| if j % 3 == 1 { MAX } else { -MAX }),
    ("highest, then lowest", |j, s| if j < s / 2 { MAX } else { -MAX }),
    ("lowest, then highest", |j, s| if j < s / 2 { -MAX } else { MAX }),
    ("all -inf", |_, _| -INF),
    ("-inf, then lowest", |j, s| if j < s - 1 { -INF } else { -MAX }),
    ("lowest, then -inf", |j, _| if j == 0 { -MAX } else { -INF }),
    ("-inf and small", |j, _| if j % 5 == 2 { j as f32 * 0.01 } else { -INF }),
    ("one +inf", |j, s| if j == s / 2 { INF } else { MAX }),
    ("+inf and -inf", |j, _| if j == 1 { INF } else { -INF }),
    ("one NaN", |j, s| if j == s / 3 { NAN } else { -MAX }),
    ("NaN among -inf", |j, s| if j == s - 1 { NAN } else { -INF }),
];

/// One head whose scores are those of `score`: only the first value of a query or key is not 0.
struct Scored {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    t: usize,
    s: usize,
    d: usize,
}

impl Scored {
    fn new(t: usize, s: usize, d: usize, score: impl Fn(usize, usize) -> f32) -> Self {
        let first = |n: usize, x: &dyn Fn(usize) -> f32| {
            (0..n * d).map(|i| if i % d == 0 { x(i / d) } else { 0.0 }).collect::<Vec<f32>>()
        };
        let v = (0..s * d).map(|i| 1.0 + (i * 7 % 11) as f32).collect();
        Self { q: first(t, &|_| 1.0), k: first(s, &|j| score(j, s)), v, t, s, d }
    }

    fn upload(&self, ctx: &Context) -> [Tensor; 3] {
        let Self { q, k, v, t, s, d } = self;
        [ctx.tensor(q, &[*t, *d]), ctx.tensor(k, &[*s, *d]), ctx.tensor(v, &[*s, *d])]
    }

    /// All queries over all keys, and as the last queries of a causal sequence.
    fn run(&self, ctx: &Context) -> [Tensor; 2] {
        let [q, k, v] = self.upload(ctx);
        let (t, s, d) = (self.t as u32, self.s as u32, self.d as u32);
        [ctx.attention_t(&q, &k, &v, t, s, d, d, 1.0), ctx.mha_causal_off_t(&q, &k, &v, t, 1, 1, d, s - t)]
    }

    fn want(&self) -> [Vec<f64>; 2] {
        let Self { q, k, v, t, s, d } = self;
        let heads = Heads { hq: 1, hkv: 1, dh: *d };
        [reference::attention(q, k, v, *t, *s, *d, *d, 1.0), reference::mha_causal(q, k, v, *t, heads, s - t)]
    }
}

gpu_test! {
    /// Every finite score counts, and -inf alone weighs nothing.
    async fn scores_at_the_ends(ctx) {
        // Queries, keys, head size: tiles with one part and several, then the kernels for up to four and eight rows; early
        // queries see no key of the last parts.
        let shapes = [(1, 2, 1), (9, 50, 4), (300, 300, 3), (40, 200, 70), (1, 2, 4), (3, 129, 4), (4, 900, 8), (7, 129, 8), (8, 600, 68)];
        let mut wrong = Vec::new();
        for (t, s, d) in shapes {
            let cases: Vec<Scored> = SCORES.iter().map(|(_, score)| Scored::new(t, s, d, score)).collect();
            let outputs: Vec<Tensor> = cases.iter().flat_map(|case| case.run(ctx)).collect();
            let got = read_all(ctx, &outputs).await;
            for ((case, (name, _)), got) in cases.iter().zip(SCORES).zip(got.chunks(2)) {
                for ((op, got), want) in ["all keys", "causal"].iter().zip(got).zip(case.want()) {
                    if let Err(text) = close(got, &want, &bound::attention(&want, &case.v, 1e-4)) {
                        wrong.push(format!("{t} queries, {s} keys, size {d}, {op}, {name}: {text}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    }
}

gpu_test! {
    /// A key that a query sees is no masked one because its weight is 0: its NaN counts.
    async fn a_value_of_no_weight_counts(ctx) {
        for (t, s, d) in [(40, 40, 4), (40, 400, 3), (3, 50, 4), (8, 300, 4)] {
            let mut case = Scored::new(t, s, d, |j, s| if j == s - 2 { -1e4 } else { 0.0 });
            case.v[(s - 2) * d] = NAN;
            for (got, want) in read_all(ctx, &case.run(ctx)).await.iter().zip(case.want()) {
                assert!(want.iter().any(|x| x.is_nan()));
                if let Err(text) = close(got, &want, &bound::attention(&want, &[11.0], 1e-4)) {
                    panic!("{t} queries, {s} keys, size {d}: {text}");
                }
            }
        }
    }
}

/// Value i of a row of d.
type Values = fn(usize, usize) -> f32;

const ROWS: [(&str, Values); 13] = [
    ("1e20 with signs", |i, _| if i % 3 == 1 { -1e20 } else { 1e20 }),
    ("just above the root of the largest", |i, _| 1.9e19 + i as f32 * 1e15),
    ("both ends", |i, _| if i % 2 == 0 { 3e38 } else { -3e38 }),
    ("the lowest, then the highest", |i, d| if i < d / 2 { -MAX } else { MAX }),
    ("zeros and the highest", |i, d| if i == d - 1 { MAX } else { 0.0 }),
    ("ones and the lowest", |i, d| if i == d / 3 { -MAX } else { 1.0 + i as f32 }),
    ("all the highest", |_, _| MAX),
    ("large and tiny", |i, _| if i % 2 == 0 { 1e25 + i as f32 * 1e22 } else { 1e-25 }),
    ("a small spread about 1e30", |i, _| 1e30 + (i % 5) as f32 * 1e27),
    ("of order 1e-25", |i, _| (1.0 + (i % 7) as f32) * if i % 2 == 0 { 1e-25 } else { -1e-25 }),
    ("of order 1e-37", |i, _| (2.0 + (i % 7) as f32) * 1e-37),
    ("all 1e-25", |_, _| 1e-25),
    ("tiny and one", |i, d| if i == d / 2 { 1.0 } else { 1e-30 }),
];

gpu_test! {
    /// Squares of large values overflow and those of small ones vanish; norms are right nevertheless.
    async fn norms_of_huge_and_tiny_rows(ctx) {
        let mut wrong = Vec::new();
        for d in [1usize, 2, 3, 4, 7, 64, 101, 500, 1001, 2000, 3001, 4000, 8000, 8193, 20_000] {
            let x: Vec<f32> = ROWS.iter().flat_map(|(_, value)| (0..d).map(move |i| value(i, d))).collect();
            let half: Vec<f32> = x.iter().map(|x| x / 2.0).collect();
            let mut rng = Rng::new("norms");
            let (w, b) = (rng.values(d, 0.5, 2.0), rng.unit(d));
            let [x_, half] = [&x, &half].map(|x| ctx.tensor(x, &[ROWS.len(), d]));
            let [w_, b_] = [&w, &b].map(|x| ctx.tensor(x, &[d]));
            let (rows, d32) = (ROWS.len() as u32, d as u32);
            for eps in [0.0, 1e-5, 1e3] {
                let outputs = [
                    ctx.rmsnorm_t(&x_, &w_, rows, d32, eps),
                    ctx.add_rmsnorm_t(&half, &half, &w_, rows, d32, eps).1,
                    ctx.layernorm_t(&x_, &w_, &b_, rows, d32, eps),
                    ctx.add_layernorm_t(&half, &half, &w_, &b_, rows, d32, eps).1,
                ];
                let wants = [reference::rmsnorm(&x, &w, eps), reference::layernorm(&x, &w, &b, eps)];
                for (i, got) in read_all(ctx, &outputs).await.iter().enumerate() {
                    let want = &wants[i / 2];
                    for (row, (name, _)) in ROWS.iter().enumerate() {
                        let part = row * d..(row + 1) * d;
                        let want = &want[part.clone()];
                        if let Err(text) = close(&got[part], want, &bound::rows(want, d, 2e-6)) {
                            wrong.push(format!("{} of {d}, eps {eps}, {name}: {text}", ["rmsnorm", "add_rmsnorm", "layernorm", "add_layernorm"][i]));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
    }
}
