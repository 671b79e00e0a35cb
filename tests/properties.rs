//! Random chains of ops. Chains of small integers have one right answer, so every bit is compared; the
//! steps of a model are compared each from its own inputs.

use tensorweft::{Context, Dtype, Tensor};

use crate::check::{Rng, bits, bound, close, read_all};
use crate::reference::{self, Heads};
use crate::table::{input, table};

/// A tensor beside its exact values, all of them integers below 2²⁴.
#[derive(Clone)]
struct Pair {
    tensor: Tensor,
    rows: usize,
    cols: usize,
    values: Vec<f32>,
}

impl Pair {
    fn new(tensor: Tensor, rows: usize, cols: usize, values: Vec<f64>) -> Self {
        let values = values.into_iter().map(|x| x as f32).collect();
        Self { tensor, rows, cols, values }
    }

    fn upload(ctx: &Context, rng: &mut Rng, rows: usize, cols: usize) -> Self {
        let values: Vec<f32> = (0..rows * cols).map(|_| rng.below(9) as f32 - 4.0).collect();
        Self { tensor: ctx.tensor(&values, &[rows, cols]), rows, cols, values }
    }

    fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |max, x| f64::from(x.abs()).max(max))
    }

    fn map(&self, tensor: Tensor, f: impl Fn(f64) -> f64) -> Self {
        let values = self.values.iter().map(|&x| f(f64::from(x))).collect();
        Self::new(tensor, self.rows, self.cols, values)
    }

    fn zip(&self, other: &Self, tensor: Tensor, f: impl Fn(f64, f64) -> f64) -> Self {
        let pairs = self.values.iter().zip(&other.values);
        let values = pairs.map(|(&a, &b)| f(f64::from(a), f64::from(b))).collect();
        Self::new(tensor, self.rows, self.cols, values)
    }
}

const EXACT: f64 = (1 << 24) as f64;

/// One random op on `x`, or `None` if its result would not be exact.
fn step(ctx: &Context, rng: &mut Rng, x: &Pair) -> Option<Pair> {
    let (rows, cols) = (x.rows, x.cols);
    let (r, c) = (rows as u32, cols as u32);
    let size = x.largest();
    // Now and then both arguments are one handle.
    let other = |rng: &mut Rng| match rng.below(3) {
        0 => x.clone(),
        _ => Pair::upload(ctx, rng, rows, cols),
    };
    Some(match rng.below(12) {
        0 => {
            let y = other(rng);
            (size + y.largest() < EXACT).then(|| x.zip(&y, ctx.add_t(&x.tensor, &y.tensor), |a, b| a + b))?
        }
        1 => {
            let y = other(rng);
            (size + y.largest() < EXACT).then(|| x.zip(&y, ctx.sub_t(&x.tensor, &y.tensor), |a, b| a - b))?
        }
        2 => {
            let y = other(rng);
            (size * y.largest() < EXACT).then(|| x.zip(&y, ctx.mul_t(&x.tensor, &y.tensor), |a, b| a * b))?
        }
        3 => x.map(ctx.relu_t(&x.tensor), |x| x.max(0.0)),
        4 => {
            let s = rng.below(5) as f32 - 2.0;
            let tensor = ctx.mul_scalar_t(&x.tensor, &ctx.tensor(&[s], &[1]));
            (size * 2.0 < EXACT).then(|| x.map(tensor, |x| x * f64::from(s)))?
        }
        5 => {
            let bias = Pair::upload(ctx, rng, 1, cols);
            let tensor = ctx.add_bias_t(&x.tensor, &ctx.dup(&bias.tensor, vec![cols]));
            (size + 4.0 < EXACT).then(|| Pair::new(tensor, rows, cols, reference::add_bias(&x.values, &bias.values)))?
        }
        6 => Pair::new(ctx.transpose2d_t(&x.tensor, r, c), cols, rows, reference::transpose2d(&x.values, rows, cols)),
        7 => {
            let ids: Vec<u32> = (0..1 + rng.below(40)).map(|_| rng.below(rows) as u32).collect();
            let values = reference::gather0(&x.values, &ids, cols);
            Pair::new(ctx.gather0(&x.tensor, &ids, cols), ids.len(), cols, values)
        }
        8 => Pair { tensor: ctx.dup(&x.tensor, vec![cols, rows]), rows: cols, cols: rows, values: x.values.clone() },
        9 => {
            let wide = 1 + rng.below(40);
            let y = Pair::upload(ctx, rng, cols, wide);
            let tensor = ctx.mm(&x.tensor, &y.tensor, r, c, y.cols as u32);
            let values = reference::mm(&x.values, &y.values, rows, cols, y.cols);
            (size * 4.0 * (cols as f64) < EXACT).then(|| Pair::new(tensor, rows, y.cols, values))?
        }
        10 => {
            let tall = 1 + rng.below(40);
            let y = Pair::upload(ctx, rng, tall, cols);
            let tensor = ctx.mm_bt(&x.tensor, &y.tensor, r, y.rows as u32, c, -1.0);
            let values = reference::mm_bt(&x.values, &y.values, rows, y.rows, cols, -1.0);
            (size * 4.0 * (cols as f64) < EXACT).then(|| Pair::new(tensor, rows, y.rows, values))?
        }
        _ => {
            // x · xᵀ: one handle as both factors.
            let tensor = ctx.mm_bt(&x.tensor, &x.tensor, r, r, c, 1.0);
            let values = reference::mm_bt(&x.values, &x.values, rows, rows, cols, 1.0);
            (size * size * (cols as f64) < EXACT).then(|| Pair::new(tensor, rows, rows, values))?
        }
    })
}

gpu_test! {
    /// Tensors are dropped at random right after use, so that buffers are recycled under queued work.
    async fn chains_of_integers_are_exact(ctx) {
        for seed in 0..60 {
            let mut rng = Rng::new(&format!("chain {seed}"));
            let mut alive = vec![Pair::upload(ctx, &mut rng, 1 + seed % 37, 1 + seed % 23)];
            let mut steps = 0;
            while steps < 60 {
                let at = rng.below(alive.len());
                let x = if rng.below(3) == 0 && alive.len() > 1 { alive.swap_remove(at) } else { alive[at].clone() };
                match step(ctx, &mut rng, &x) {
                    Some(y) => {
                        alive.push(y);
                        steps += 1;
                    }
                    None => {
                        let (rows, cols) = (1 + rng.below(40), 1 + rng.below(40));
                        alive.push(Pair::upload(ctx, &mut rng, rows, cols));
                    }
                }
                if alive.len() > 8 {
                    let at = rng.below(alive.len());
                    alive.swap_remove(at);
                }
            }
            let tensors: Vec<Tensor> = alive.iter().map(|pair| pair.tensor.clone()).collect();
            for (pair, got) in alive.iter().zip(read_all(ctx, &tensors).await) {
                assert_eq!(pair.tensor.shape(), [pair.rows, pair.cols], "seed {seed}");
                assert_eq!(got, pair.values, "seed {seed}, {:?}", pair.tensor);
            }
        }
    }
}

gpu_test! {
    /// Each step of a model is compared with float64 from the very numbers that the step before it gave.
    async fn a_model_step_by_step(ctx) {
        for (t, heads, wide) in [
            (1, Heads { hq: 4, hkv: 2, dh: 8 }, 50),
            (13, Heads { hq: 9, hkv: 3, dh: 64 }, 300),
            (70, Heads { hq: 2, hkv: 1, dh: 20 }, 33),
        ] {
            let Heads { hq, hkv, dh } = heads;
            let (d, narrow) = (hq * dh, hkv * dh);
            let mut rng = Rng::new(&format!("model {t}"));
            let mut random = |rows: usize, cols: usize| -> Vec<f32> { rng.values(rows * cols, -0.3, 0.3) };
            let (x0, norm) = (random(t, d), random(1, d));
            let [wq, wk, wv] = [random(d, d), random(narrow, d), random(narrow, d)];
            let (up, bias, down) = (random(d, wide), random(1, wide), random(wide, d));
            let (t32, d32, n32, w32) = (t as u32, d as u32, narrow as u32, wide as u32);
            let (hq32, hkv32, dh32) = (hq as u32, hkv as u32, dh as u32);
            let load = |data: &[f32], rows: usize| ctx.tensor(data, &[rows, data.len() / rows]);

            let x = load(&x0, t);
            let n = ctx.rmsnorm_t(&x, &ctx.tensor(&norm, &[d]), t32, d32, 1e-5);
            let q = ctx.mm_bt(&n, &load(&wq, d), t32, d32, d32, 1.0);
            let k = ctx.mm_bt(&n, &load(&wk, narrow), t32, n32, d32, 1.0);
            let v = ctx.mm_bt(&n, &load(&wv, narrow), t32, n32, d32, 1.0);
            let qr = ctx.rope_t(&q, t32, hq32, dh32, 1e4);
            let kr = ctx.rope_t(&k, t32, hkv32, dh32, 1e4);
            let a = ctx.mha_causal_t(&qr, &kr, &v, t32, hq32, hkv32, dh32);
            let r = ctx.add_t(&x, &a);
            let u = ctx.add_bias_t(&ctx.mm(&r, &load(&up, d), t32, d32, w32), &ctx.tensor(&bias, &[wide]));
            let g = ctx.gelu_tanh_t(&u);
            let o = ctx.mm(&g, &load(&down, wide), t32, w32, d32);
            let p = ctx.softmax_t(&o, t32, d32);

            let got = read_all(ctx, &[n, q, k, v, qr, kr, a, r, u, g, o, p]).await;
            let [n, q, k, v, qr, kr, a, r, u, g, o, p] = <[Vec<f32>; 12]>::try_from(got).expect("twelve");
            let assert = |what: &str, got: &[f32], want: Vec<f64>, bound: Vec<f64>| {
                close(got, &want, &bound).unwrap_or_else(|text| panic!("{what} of {t} rows: {text}"));
            };
            let want = reference::rmsnorm(&x0, &norm, 1e-5);
            assert("norm", &n, want.clone(), bound::rows(&want, d, 2e-6));
            for (name, got, w, rows) in [("q", &q, &wq, d), ("k", &k, &wk, narrow), ("v", &v, &wv, narrow)] {
                assert(name, got, reference::mm_bt(&n, w, t, rows, d, 1.0), bound::mm_bt(&n, w, t, rows, d, 1.0));
            }
            let want = reference::rope(&q, hq, dh, 1e4, 0);
            assert("rotated q", &qr, want.clone(), bound::transcendental(&want));
            let want = reference::rope(&k, hkv, dh, 1e4, 0);
            assert("rotated k", &kr, want.clone(), bound::transcendental(&want));
            let want = reference::mha_causal(&qr, &kr, &v, t, heads, 0);
            assert("attention", &a, want.clone(), bound::attention(&want, &v, 1e-5));
            let want: Vec<f64> = x0.iter().zip(&a).map(|(&x, &a)| f64::from(x) + f64::from(a)).collect();
            assert("residual", &r, want.clone(), bound::elementwise(&want));
            let product = reference::mm(&r, &up, t, d, wide);
            let want: Vec<f64> = product.iter().enumerate().map(|(i, y)| y + f64::from(bias[i % wide])).collect();
            let slack = bound::mm(&r, &up, t, d, wide).into_iter().zip(bound::elementwise(&want));
            assert("up", &u, want, slack.map(|(mm, add)| mm + add).collect());
            let want: Vec<f64> = u.iter().map(|&u| reference::gelu_tanh(f64::from(u))).collect();
            assert("gelu", &g, want.clone(), bound::transcendental(&want));
            assert("down", &o, reference::mm(&g, &down, t, wide, d), bound::mm(&g, &down, t, wide, d));
            let want = reference::softmax(&o, d);
            assert("softmax", &p, want.clone(), bound::rows(&want, d, 2e-6));
        }
    }
}

gpu_test! {
    /// One handle in every place where it fits gives what equal copies give, stored as f32 and as f16.
    async fn one_handle_in_every_place(ctx) {
        let data = |n: usize| Rng::new("alias").unit(n);
        let mut results = Vec::new();
        for op in table().into_iter().filter(|op| op.inputs.len() > 1) {
            let of_one_shape = [[24, 24], [1, 24], [1, 1]].map(|shape| vec![shape; op.inputs.len()]);
            let mut fitting = 0;
            for shapes in [op.inputs.clone()].into_iter().chain(of_one_shape) {
                for dtype in [Dtype::F32, Dtype::F16] {
                    let copies: Vec<Tensor> =
                        shapes.iter().map(|&shape| ctx.to_dtype(&input(ctx, shape, data), dtype)).collect();
                    let first = |shape| shapes.iter().position(|other| other == shape).expect("its own place");
                    let shared: Vec<&Tensor> = shapes.iter().map(|shape| &copies[first(shape)]).collect();
                    let apart = op.call(ctx, &copies.iter().collect::<Vec<_>>(), &shapes);
                    if apart.iter().any(|y| y.error().is_some()) {
                        continue;
                    }
                    fitting += 1;
                    let call = format!("{} of {shapes:?} as {dtype:?}", op.name);
                    let aliased = op.call(ctx, &shared, &shapes);
                    results.extend(aliased.into_iter().zip(apart).map(|pair| (call.clone(), pair)));
                }
            }
            assert!(fitting >= 4, "{} ran with {fitting} of the shapes and dtypes", op.name);
        }
        let (aliased, apart): (Vec<_>, Vec<_>) = results.iter().map(|(_, pair)| pair.clone()).unzip();
        let (aliased, apart) = (read_all(ctx, &aliased).await, read_all(ctx, &apart).await);
        for ((call, _), (a, b)) in results.iter().zip(aliased.iter().zip(&apart)) {
            assert_eq!(bits(a), bits(b), "{call}");
        }
        println!("{} results", results.len());

        let n = 24usize;
        let data = data(n * n);
        let x = ctx.tensor(&data, &[n, n]);
        assert_eq!(read_all(ctx, &[ctx.sub_t(&x, &x)]).await, [vec![0.0; n * n]]);
        // Keys and values of one tensor in a cache.
        let mut cache = ctx.kv_cache(n, n);
        cache.append(&x, &x).expect("room");
        assert_eq!(read_all(ctx, &[cache.k(), cache.v()]).await, [data.clone(), data.clone()]);
        cache.truncate(0);
        cache.append_rope(&x, &x, 3, 1e4).expect("room");
        let got = read_all(ctx, &[cache.k(), cache.v()]).await;
        let want = reference::rope(&data, 3, 8, 1e4, 0);
        close(&got[0], &want, &bound::transcendental(&want)).expect("turned");
        assert_eq!(got[1], data);
    }
}
