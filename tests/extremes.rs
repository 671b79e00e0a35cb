//! Values at the ends of the range: no NaN that the mathematics does not have, none lost that it has, rows that do not
//! change each other, and the same bits from the same call.

use futures_util::future::join_all;
use tensorweft::{Context, Tensor};

use crate::check::{Rng, bits, bound, close, read_all};
use crate::reference::{self, Heads, widen};
use crate::table::{self, WIDE, input};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

async fn read(ctx: &Context, t: &Tensor) -> Vec<f32> {
    ctx.to_vec(t).await.expect("a read")
}

/// Asserts that each element is within its bound of what is wanted.
#[track_caller]
fn assert_close(what: &str, got: &[f32], want: &[f64], bound: &[f64]) {
    if let Err(text) = close(got, want, bound) {
        panic!("{what}: {text}");
    }
}

fn row(ctx: &Context, x: &[f32]) -> Tensor {
    ctx.tensor(x, &[1, x.len()])
}

gpu_test! {
    /// Where the formula has no value the result is NaN, and where its value is beyond f32 it is infinite.
    async fn unary_ops_at_the_ends(ctx) {
        let ends = [
            0.0, 1e-30, 1e-10, 1e-3, 0.25, 1.0, 2.0, 3.0, 4.0, 5.0, 9.1, 12.0, 13.0, 13.5, 20.0, 50.0, 88.0, 89.0, 100.0,
            1e4, 1e10, 1e30, 3e38,
        ];
        let x: Vec<f32> = ends.iter().flat_map(|&x| [x, -x]).collect();
        let ops: Vec<_> = table::table().into_iter().filter_map(|op| Some((op.name, op.unary?))).collect();
        for (name, unary) in &ops {
            let got = read(ctx, &(unary.call)(ctx, &row(ctx, &x))).await;
            let value = |x: &f32| match (unary.formula)(f64::from(*x)) {
                y if y.abs() > f64::from(f32::MAX) => f64::INFINITY.copysign(y),
                y => y,
            };
            let want: Vec<f64> = x.iter().map(value).collect();
            assert_close(name, &got, &want, &(unary.bound)(&want));
        }
        println!("{} ops of {} values", ops.len(), x.len());
    }
}

gpu_test! {
    async fn activations_by_literal_values(ctx) {
        let x = row(ctx, &[-1e4, -100.0, -13.5, -3.0, 0.0, 1.0, 20.0, 1e4]);
        let erf = read(ctx, &ctx.gelu_t(&x)).await;
        assert_close("gelu_t", &erf, &[0.0, 0.0, 0.0, -0.00405, 0.0, 0.8413, 20.0, 1e4], &[1e-5, 1e-5, 1e-5, 1e-5, 0.0, 1e-4, 1e-4, 1e-2]);
        let tanh = read(ctx, &ctx.gelu_tanh_t(&x)).await;
        assert_close("gelu_tanh_t", &tanh, &[0.0, 0.0, 0.0, -0.00364, 0.0, 0.8412, 20.0, 1e4], &[1e-5, 1e-5, 1e-5, 1e-5, 0.0, 1e-4, 1e-4, 1e-2]);

        let sigmoid = read(ctx, &ctx.sigmoid_t(&row(ctx, &[-1e4, -100.0, -89.0, 0.0, 89.0, 1e4]))).await;
        assert_close("sigmoid_t", &sigmoid, &[0.0, 0.0, 0.0, 0.5, 1.0, 1.0], &[1e-30, 1e-30, 1e-30, 1e-7, 1e-6, 1e-6]);
        let silu = read(ctx, &ctx.silu_t(&row(ctx, &[-1e4, -100.0, -20.0, 20.0, 1e4]))).await;
        assert_close("silu_t", &silu, &[0.0, 0.0, -4.12e-8, 20.0, 1e4], &[1e-20, 1e-20, 1e-10, 1e-4, 1e-2]);
    }
}

gpu_test! {
    async fn nan_stays_where_it_is(ctx) {
        let relu = read(ctx, &ctx.relu_t(&row(ctx, &[NAN, -1.0, 2.0, -0.0, -INF, INF]))).await;
        assert!(relu[0].is_nan(), "{relu:?}");
        assert_eq!(relu[1..], [0.0, 2.0, 0.0, 0.0, INF]);

        // NaN in some places of an input, through many vectors of four and more than one workgroup.
        let n = (WIDE[0] * WIDE[1]) as usize;
        let spotted: Vec<f32> = (0..n).map(|i| if i % 11 == 3 { NAN } else { 0.5 + (i % 5) as f32 }).collect();
        let x = input(ctx, WIDE, |_| spotted.clone());
        let column = ctx.dup(&x, vec![n, 1]);
        let mut results = vec![
            ("transpose2d_t", ctx.transpose2d_t(&column, n as u32, 1)),
            ("gather0", ctx.gather0(&column, &(0..n as u32).collect::<Vec<u32>>(), 1)),
        ];
        for op in table::table().into_iter().filter(|op| op.elementwise) {
            let clean: Vec<Tensor> = op.inputs.iter().map(|&shape| input(ctx, shape, |n| vec![1.5; n])).collect();
            for i in (0..clean.len()).filter(|&i| op.inputs[i] == WIDE) {
                let mut tensors: Vec<&Tensor> = clean.iter().collect();
                tensors[i] = &x;
                results.extend(op.run(ctx, &tensors).into_iter().map(|y| (op.name, y)));
            }
        }
        let (names, outputs): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        for (op, got) in names.iter().zip(read_all(ctx, &outputs).await) {
            assert_eq!(got.len(), n, "{op}");
            for (i, (got, x)) in got.iter().zip(&spotted).enumerate() {
                assert_eq!(got.is_nan(), x.is_nan(), "{op}: element {i} is {got}");
            }
        }
        println!("{} results", names.len());
    }
}

gpu_test! {
    /// NaN or infinity in one row leaves the bits of every other row alone.
    async fn a_bad_row_spoils_no_other(ctx) {
        for (rows, d) in [(5usize, 4usize), (5, 70), (4, 300), (3, 5000)] {
            let good = Rng::new("rows").values(rows * d, -3.0, 3.0);
            let w = vec![0.5; d];
            let spoil = |value: f32| {
                let mut x = good.clone();
                x[d + d / 2] = value;
                x
            };
            let run = |x: &[f32]| {
                let x = ctx.tensor(x, &[rows, d]);
                let w = ctx.tensor(&w, &[d]);
                let square = ctx.tensor(&vec![0.25; d * 9], &[d, 9]);
                let (r, c) = (rows as u32, d as u32);
                let k = ctx.tensor(&vec![0.01; 6 * d], &[6, d]);
                [
                    ctx.softmax_t(&x, r, c),
                    ctx.rmsnorm_t(&x, &w, r, c, 1e-5),
                    ctx.layernorm_t(&x, &w, &w, r, c, 1e-5),
                    ctx.add_rmsnorm_t(&x, &ctx.empty(&[rows, d]), &w, r, c, 1e-5).1,
                    ctx.add_layernorm_t(&ctx.empty(&[rows, d]), &x, &w, &w, r, c, 1e-5).1,
                    ctx.mm(&x, &square, r, c, 9),
                    ctx.mm_bt(&x, &ctx.dup(&square, vec![9, d]), r, 9, c, 0.5),
                    ctx.attention_t(&x, &k, &k, r, 6, c, c, 0.1),
                    ctx.rope_t(&x, r, 1, c, 1e4),
                ]
            };
            let ops = ["softmax", "rmsnorm", "layernorm", "add_rmsnorm", "add_layernorm", "mm", "mm_bt", "attention", "rope"];
            let want = read_all(ctx, &run(&good)).await;
            for bad in [NAN, INF] {
                let got = read_all(ctx, &run(&spoil(bad))).await;
                for (op, (got, want)) in ops.iter().zip(got.iter().zip(&want)) {
                    let width = got.len() / rows;
                    let spoiled = &got[width..2 * width];
                    assert!(spoiled.iter().any(|x| !x.is_finite()), "{op} hides {bad} in a row of {d}");
                    for r in (0..rows).filter(|&r| r != 1) {
                        let part = r * width..(r + 1) * width;
                        assert_eq!(bits(&got[part.clone()]), bits(&want[part]), "{op}: {bad} in row 1 changes row {r} of {d}");
                    }
                    // A rotation mixes pairs, every other op the whole row.
                    if bad.is_nan() && *op != "rope" {
                        assert!(spoiled.iter().all(|x| x.is_nan()), "{op}: a row of {d} with NaN is all NaN");
                    }
                }
            }
        }
    }
}

gpu_test! {
    /// The same for rows so long that several workgroups share one.
    async fn a_bad_long_row_spoils_no_other(ctx) {
        for d in [9000usize, 9001, 20_000] {
            let good = Rng::new("long rows").values(3 * d, -3.0, 3.0);
            let w = ctx.tensor(&vec![0.5; d], &[d]);
            let run = |x: &[f32]| {
                let (x, c) = (ctx.tensor(x, &[3, d]), d as u32);
                [
                    ctx.softmax_t(&x, 3, c),
                    ctx.rmsnorm_t(&x, &w, 3, c, 1e-5),
                    ctx.layernorm_t(&x, &w, &w, 3, c, 1e-5),
                    ctx.add_rmsnorm_t(&x, &x, &w, 3, c, 1e-5).1,
                    ctx.add_layernorm_t(&x, &x, &w, &w, 3, c, 1e-5).1,
                ]
            };
            let ops = ["softmax", "rmsnorm", "layernorm", "add_rmsnorm", "add_layernorm"];
            let want = read_all(ctx, &run(&good)).await;
            for at in [0, d / 2, d - 1] {
                let mut x = good.clone();
                x[d + at] = NAN;
                let got = read_all(ctx, &run(&x)).await;
                for (op, (got, want)) in ops.iter().zip(got.iter().zip(&want)) {
                    assert!(got[d..2 * d].iter().all(|x| x.is_nan()), "{op}: NaN at {at} fills its row of {d}");
                    assert_eq!(bits(&got[..d]), bits(&want[..d]), "{op}: NaN at {at} of {d}");
                    assert_eq!(bits(&got[2 * d..]), bits(&want[2 * d..]), "{op}: NaN at {at} of {d}");
                }
            }
        }
    }
}

gpu_test! {
    /// A NaN in a column of b spoils that column only.
    async fn a_bad_column_spoils_no_other(ctx) {
        for (m, k, n) in [(1usize, 40usize, 33usize), (3, 40, 70), (70, 40, 70), (33, 7, 5)] {
            let a = ctx.tensor(&Rng::new("a").unit(m * k), &[m, k]);
            let mut b = Rng::new("b").unit(k * n);
            b[(k / 2) * n + 2] = NAN;
            let b = ctx.tensor(&b, &[k, n]);
            let bt = ctx.transpose2d_t(&b, k as u32, n as u32);
            let outputs = [
                ctx.mm(&a, &b, m as u32, k as u32, n as u32),
                ctx.mm_bt(&a, &bt, m as u32, n as u32, k as u32, 1.0),
            ];
            for got in read_all(ctx, &outputs).await {
                for (i, x) in got.iter().enumerate() {
                    assert_eq!(x.is_nan(), i % n == 2, "m {m} k {k} n {n}: element {i} is {x}");
                }
            }
        }
    }
}

gpu_test! {
    async fn softmax_extremes(ctx) {
        let cases: [(&[f32], usize, &[f64]); 11] = [
            (&[1000.0, 1001.0, 1002.0], 3, &[0.0900306, 0.2447285, 0.6652410]),
            (&[-1000.0, -1000.0], 2, &[0.5, 0.5]),
            (&[-3.3e38; 4], 4, &[0.25; 4]),
            (&[3.3e38, -3.3e38, 3.3e38], 3, &[0.5, 0.0, 0.5]),
            (&[-INF, -INF, 0.0, 0.0], 2, &[0.0, 0.0, 0.5, 0.5]),
            (&[0.0, 0.0, -INF, -INF, 1.0, 1.0], 2, &[0.5, 0.5, 0.0, 0.0, 0.5, 0.5]),
            (&[1.0, -INF, 1.0, -INF], 4, &[0.5, 0.0, 0.5, 0.0]),
            (&[-INF, -1e4, -INF], 3, &[0.0, 1.0, 0.0]),
            (&[0.0, NAN, 0.0, 0.0], 2, &[f64::NAN, f64::NAN, 0.5, 0.5]),
            (&[1e4, -1e4], 2, &[1.0, 0.0]),
            (&[-INF], 1, &[0.0]),
        ];
        let outputs: Vec<Tensor> = cases.iter()
            .map(|&(x, d, _)| ctx.softmax_t(&ctx.tensor(x, &[x.len() / d, d]), (x.len() / d) as u32, d as u32))
            .collect();
        for (got, (x, d, want)) in read_all(ctx, &outputs).await.iter().zip(cases) {
            assert_close(&format!("softmax of {x:?}"), got, want, &bound::rows(want, d, 2e-6));
            for (got, x) in got.iter().zip(x) {
                assert!(*x != -INF || *got == 0.0, "a masked place is exactly 0, not {got}");
            }
        }
    }
}

gpu_test! {
    async fn softmax_of_long_and_masked_rows(ctx) {
        for d in [64, 257, 5000, 50_257, 65_537, 151_936, 262_145] {
            let mut x = vec![0.0; d];
            x[d - 1] = 20.0;
            let mut masked = vec![-INF; d];
            masked[d / 2] = -7.0;
            let mut nan = vec![0.0; d];
            nan[d - 2] = NAN;
            let rows = [x, vec![-INF; d], masked, nan, vec![1e4; d]].concat();
            let got = read(ctx, &ctx.softmax_t(&ctx.tensor(&rows, &[5, d]), 5, d as u32)).await;
            let rows: Vec<&[f32]> = got.chunks(d).collect();

            let sum = (d - 1) as f64 + 20f64.exp();
            let mut want = vec![1.0 / sum; d];
            want[d - 1] = 20f64.exp() / sum;
            let relative: Vec<f64> = want.iter().map(|w| 1e-5 * w).collect();
            assert_close(&format!("one hot of {d}"), rows[0], &want, &relative);
            let total: f64 = widen(rows[0]).iter().sum();
            assert!((total - 1.0).abs() <= 1e-5, "{d}: the sum is {total}");
            if d == 151_936 {
                assert!((rows[0][d - 1] - 0.999687).abs() < 1e-6 && (rows[0][0] - 2.0605e-9).abs() < 1e-12);
            }
            assert!(rows[1].iter().all(|&p| p == 0.0), "{d}: a fully masked row is zeros");
            assert!(rows[2].iter().enumerate().all(|(i, &p)| p == if i == d / 2 { 1.0 } else { 0.0 }), "{d}: one place is left");
            assert!(rows[3].iter().all(|p| p.is_nan()), "{d}: NaN fills its row");
            assert_close("equal logits", rows[4], &vec![1.0 / d as f64; d], &vec![1e-5 / d as f64; d]);
        }
    }
}

gpu_test! {
    /// A mask is added as -inf; a query that sees nothing gets zeros.
    async fn masks_of_minus_infinity(ctx) {
        let scores = ctx.tensor(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2]);
        let mask = ctx.tensor(&[0.0, -INF, -INF, -INF, 0.0, 0.0], &[3, 2]);
        let p = ctx.softmax_t(&ctx.add_t(&scores, &mask), 3, 2);
        let got = read(ctx, &ctx.mm(&p, &ctx.tensor(&[10.0, 20.0], &[2, 1]), 3, 2, 1)).await;
        let e = 1f64.exp();
        assert_close("masked attention", &got, &[10.0, 0.0, (10.0 + 20.0 * e) / (1.0 + e)], &[1e-5, 0.0, 4e-5]);
    }
}

gpu_test! {
    async fn norms_of_large_and_constant_rows(ctx) {
        let alternating: Vec<f32> = (0..256).map(|i| if i % 2 == 0 { 9999.0 } else { 10_001.0 }).collect();
        let million: Vec<f32> = (0..64).map(|i| 1e6 + (i % 2) as f32).collect();
        let mut rng = Rng::new("narrow");
        let mut rows: Vec<(Vec<f32>, f64)> = vec![(alternating.clone(), 1e-4), (million, 1e-4)];
        for d in [5, 64, 255, 1000, 4096, 10_007, 20_000] {
            rows.push((rng.values(d, 9999.99, 10_000.01), 1e-4));
            rows.push((rng.values(d, -1e4, 1e4), 2e-6));
            rows.push((rng.values(d, -1e-3, 1e-3), 2e-6));
        }
        for (x, relative) in rows {
            let d = x.len();
            let (w, b) = (rng.unit(d), rng.unit(d));
            let (x_, w_, b_) = (row(ctx, &x), ctx.tensor(&w, &[d]), ctx.tensor(&b, &[d]));
            let nothing = ctx.empty(&[1, d]);
            let outputs = [
                ctx.layernorm_t(&x_, &w_, &b_, 1, d as u32, 1e-5),
                ctx.rmsnorm_t(&x_, &w_, 1, d as u32, 1e-5),
                ctx.add_layernorm_t(&nothing, &x_, &w_, &b_, 1, d as u32, 1e-5).1,
                ctx.add_rmsnorm_t(&x_, &nothing, &w_, 1, d as u32, 1e-5).1,
            ];
            let got = read_all(ctx, &outputs).await;
            let want = reference::layernorm(&x, &w, &b, 1e-5);
            for got in [&got[0], &got[2]] {
                assert_close(&format!("layernorm of {d} around {}", x[0]), got, &want, &bound::rows(&want, d, relative));
            }
            let want = reference::rmsnorm(&x, &w, 1e-5);
            for got in [&got[1], &got[3]] {
                assert_close(&format!("rmsnorm of {d} around {}", x[0]), got, &want, &bound::rows(&want, d, 2e-6));
            }
        }

        let (ones, zeros) = (ctx.tensor(&[1.0; 256], &[256]), ctx.empty(&[256]));
        let got = read(ctx, &ctx.layernorm_t(&row(ctx, &alternating), &ones, &zeros, 1, 256, 1e-5)).await;
        for (i, y) in got.iter().enumerate() {
            let want = if i % 2 == 0 { -0.999995 } else { 0.999995 };
            assert!((y - want).abs() < 1e-5, "element {i} is {y}");
        }

        for (d, value) in [(1, 7.3), (2, 0.1), (320, 2345.0), (1000, 0.1), (4097, -1e4), (10_007, 0.7), (20_000, 0.3)] {
            let b = rng.unit(d);
            let w = ctx.tensor(&rng.unit(d), &[d]);
            let got = read(ctx, &ctx.layernorm_t(&row(ctx, &vec![value; d]), &w, &ctx.tensor(&b, &[d]), 1, d as u32, 1e-5)).await;
            assert_eq!(got, b, "{d} times {value}: a constant row gives exactly the bias");
        }
    }
}

gpu_test! {
    /// Scores far beyond 1,000. They are integers and so exact in f32: only the softmax can go wrong.
    async fn attention_with_large_scores(ctx) {
        for (t, s, d) in [(1usize, 50usize, 64usize), (20, 50, 64), (40, 300, 16)] {
            let mut rng = Rng::new(&format!("scores {t} {s}"));
            let mut whole = |n: usize| -> Vec<f32> { (0..n).map(|_| rng.below(65) as f32 - 32.0).collect() };
            let (q, k) = (whole(t * d), whole(s * d));
            let v = rng.unit(s * d);
            let (tq, tk, tv) = (ctx.tensor(&q, &[t, d]), ctx.tensor(&k, &[s, d]), ctx.tensor(&v, &[s, d]));
            let (t32, s32, d32) = (t as u32, s as u32, d as u32);
            let heads = Heads { hq: 1, hkv: 1, dh: d };
            let offset = s - t;
            let outputs = [
                ctx.attention_t(&tq, &tk, &tv, t32, s32, d32, d32, 1.0),
                ctx.mha_causal_off_t(&tq, &tk, &tv, t32, 1, 1, d32, offset as u32),
                ctx.mha_decode_t(&ctx.gather0(&tq, &[0], d), &tk, &tv, 1, 1, d32, s32),
            ];
            let got = read_all(ctx, &outputs).await;
            let want = reference::attention(&q, &k, &v, t, s, d, d, 1.0);
            assert_close("attention_t", &got[0], &want, &bound::attention(&want, &v, 1e-4));
            let want = reference::mha_causal(&q, &k, &v, t, heads, offset);
            assert_close("mha_causal_off_t", &got[1], &want, &bound::attention(&want, &v, 1e-4));
            let want = reference::mha_decode(&q, &k, &v, heads, s);
            assert_close("mha_decode_t", &got[2], &want, &bound::attention(&want, &v, 1e-4));
        }
    }
}

gpu_test! {
    /// Rows of a cache past its length, and keys after the query, are never read into the result.
    async fn keys_out_of_sight_do_not_count(ctx) {
        let heads = Heads { hq: 4, hkv: 2, dh: 10 };
        let (hq, hkv, dh) = (4, 2, 10);
        for (len, capacity) in [(3usize, 8usize), (40, 70), (200, 301), (600, 1000)] {
            let width = heads.hkv * heads.dh;
            let mut rng = Rng::new("cache");
            let (q, k, v) = (rng.unit(2 * 40), rng.unit(len * width), rng.unit(len * width));
            let one = ctx.tensor(&q[..40], &[1, 40]);
            let two = ctx.tensor(&q, &[2, 40]);
            let mut results = Vec::new();
            for garbage in [0.0, NAN, 1e30, INF] {
                let fill = |x: &[f32]| {
                    let rest = vec![garbage; (capacity - len) * width];
                    ctx.tensor(&[x, &rest].concat(), &[capacity, width])
                };
                let mut cache = ctx.kv_cache(capacity, width);
                cache.append(&fill(&k), &fill(&v)).expect("room");
                cache.truncate(len);
                assert_eq!(cache.len(), len);
                let (k, v) = (cache.k(), cache.v());
                results.push(read_all(ctx, &[
                    ctx.mha_decode_t(&one, &k, &v, hq, hkv, dh, len as u32),
                    ctx.mha_causal_off_t(&two, &k, &v, 2, hq, hkv, dh, len as u32 - 2),
                ]).await);
                // Back to one row, and on with another.
                cache.truncate(1);
                let row = ctx.tensor(&q[..width], &[1, width]);
                cache.append(&row, &row).expect("room");
                assert_eq!(cache.len(), 2);
                let last = read(ctx, &ctx.mha_decode_t(&one, &cache.k(), &cache.v(), hq, hkv, dh, 2)).await;
                results.last_mut().expect("two").push(last);
            }
            let want = reference::mha_decode(&q, &k, &v, heads, len);
            assert_close("decode", &results[0][0], &want, &bound::attention(&want, &v, 1e-5));
            for other in &results[1..] {
                for (i, (got, want)) in other.iter().zip(&results[0]).enumerate() {
                    assert_eq!(bits(got), bits(want), "result {i} at length {len}");
                }
            }
        }
    }
}

gpu_test! {
    /// A key at -inf weighs nothing, whatever the head size and the number of queries. Kernels pad heads with zeros to
    /// whole vectors, and 0 · -inf would be NaN.
    async fn a_key_at_minus_infinity_weighs_nothing(ctx) {
        for d in [1usize, 3, 4, 8, 20, 36, 68] {
            for rows in [1usize, 4, 5, 8, 9, 33] {
                let q = ctx.tensor(&vec![1.0; rows * d], &[rows, d]);
                let mut k = vec![0.5; 3 * d];
                k[2 * d - 1] = -INF;
                let v = ctx.tensor(&[1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0, 3.0, 3.0, 3.0, 3.0], &[3, 4]);
                let y = ctx.attention_t(&q, &ctx.tensor(&k, &[3, d]), &v, rows as u32, 3, d as u32, 4, 1.0);
                assert_eq!(read(ctx, &y).await, vec![2.0; rows * 4], "{rows} rows of {d}");
            }
        }
    }
}

gpu_test! {
    /// A NaN key or value reaches the queries that see it, and no earlier one.
    async fn a_bad_key_spoils_only_later_queries(ctx) {
        // Tiles of many rows, then the kernels for up to four and up to eight.
        for (t, bad_keys) in [(75usize, vec![0, 1, 33, 74]), (3, vec![0, 1, 2]), (8, vec![0, 5, 7])] {
            let d = 12usize;
            let mut rng = Rng::new("bad key");
            let (q, k, v) = (rng.unit(t * d), rng.unit(t * d), rng.unit(t * d));
            let run = |k: &[f32], v: &[f32]| {
                let (q, k, v) = (ctx.tensor(&q, &[t, d]), ctx.tensor(k, &[t, d]), ctx.tensor(v, &[t, d]));
                ctx.mha_causal_t(&q, &k, &v, t as u32, 1, 1, d as u32)
            };
            let clean = read(ctx, &run(&k, &v)).await;
            for bad in bad_keys {
                let mut bad_k = k.clone();
                bad_k[bad * d] = NAN;
                let mut bad_v = v.clone();
                bad_v[bad * d..][..d].fill(NAN);
                for got in read_all(ctx, &[run(&bad_k, &v), run(&k, &bad_v)]).await {
                    assert_eq!(bits(&got[..bad * d]), bits(&clean[..bad * d]), "{t} queries, key {bad}");
                    assert!(got[bad * d..].iter().all(|x| x.is_nan()), "{t} queries: key {bad} is seen from query {bad} on");
                }
            }
        }
    }
}

gpu_test! {
    async fn rope_by_literal_values(ctx) {
        let x = [1.0, 2.0, 3.0, 4.0];
        let one = ctx.tensor(&x, &[1, 4]);
        let two = ctx.tensor(&[x, x].concat(), &[2, 4]);
        let outputs = [
            ctx.rope_off_t(&one, 1, 1, 4, 1e4, 5),
            ctx.rope_off_t(&one, 1, 1, 4, 1e4, 6),
            ctx.rope_off_t(&two, 2, 1, 4, 1e4, 5),
            ctx.rope_t(&one, 1, 1, 4, 1e4),
        ];
        let got = read_all(ctx, &outputs).await;
        assert_close("offset 5", &got[0], &[3.160435, 1.797584, -0.107938, 4.094959], &[2e-5; 4]);
        assert_eq!(bits(&got[2]), bits(&[&got[0][..], &got[1][..]].concat()), "row r is at offset + r");
        assert_eq!(got[3], x, "position 0 is the identity");
    }
}

gpu_test! {
    async fn the_same_call_gives_the_same_bits(ctx) {
        let first: Vec<_> = table::small().into_iter().map(|row| (row.op, (row.case)(ctx))).collect();
        // The second time in the reverse order.
        let again: Vec<_> = table::small().into_iter().rev().map(|row| (row.case)(ctx)).collect();
        let reads = join_all(first.iter().map(|(_, case)| ctx.to_vec(&case.got))).await;
        let reads_again = join_all(again.iter().rev().map(|case| ctx.to_vec(&case.got))).await;
        for (((op, case), a), b) in first.iter().zip(reads).zip(reads_again) {
            let (a, b) = (a.expect("a read"), b.expect("a read"));
            assert_eq!(bits(&a), bits(&b), "{op} {}", case.label);
        }
    }
}
