//! What the ops must do beyond their own rows, each of which is a test of `table`.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use tensorweft::{Context, Dtype};

use crate::check::{Case, Rng, Row, bound, check, close, read_all};
use crate::reference;
use crate::table::{self, Op};

gpu_test! {
    /// The contract's ops are those that `seed_api.rs` calls.
    async fn every_op_of_the_contract_has_rows() {
        let seed = include_str!("seed_api.rs");
        let body = seed.split("async fn device_ops").nth(1).and_then(|rest| rest.split("async fn").next());
        let contract: BTreeSet<&str> = body
            .expect("the list of device ops")
            .split("= c.")
            .skip(1)
            .filter_map(|call| call.split('(').next())
            .filter(|name| !["tensor", "empty"].contains(name))
            .collect();
        assert_eq!(contract.len(), 24, "{contract:?}");
        let mut names = BTreeSet::new();
        for op in table::table() {
            assert!(names.insert(op.name), "{} is in the table twice", op.name);
            assert!(!op.rows().is_empty());
        }
        let missing: Vec<_> = contract.difference(&names).collect();
        assert!(missing.is_empty(), "{missing:?} have no rows");
        for op in table::table() {
            assert!(!op.small().is_empty());
        }
    }
}

gpu_test! {
    /// Every kernel gives right results in some case, the kernels that read f16 among them.
    async fn every_kernel_is_reached() {
        let ctx = crate::own().await;
        let rows = [Op::reach, Op::reach_f16].into_iter().flat_map(|rows| table::table().into_iter().flat_map(rows));
        check(&ctx, rows.collect()).await;
        let x = ctx.tensor(&[1.0, -2.5, 3.0], &[1, 3]);
        let mut cache = ctx.kv_cache(2, 3);
        cache.append(&x, &ctx.empty(&[1, 3])).expect("room");
        let mut halves = ctx.kv_cache_as(2, 3, Dtype::F16);
        halves.append(&x, &ctx.to_dtype(&x, Dtype::F16)).expect("room");
        let got = read_all(&ctx, &[cache.k(), cache.v(), halves.k(), halves.v()]).await;
        let row = vec![1.0, -2.5, 3.0, 0.0, 0.0, 0.0];
        assert_eq!(got, [row.clone(), vec![0.0; 6], row.clone(), row]);
        for (h, dh) in [(2, 6), (2, 8), (1, 6), (1, 8)] {
            turned_on_the_way(&ctx, 3, h, dh, &[2]).await;
        }
        assert_eq!(ctx.stats().pipelines_created as usize, tensorweft::kernels().len());
    }
}

gpu_test! {
    /// Small integers have one right answer, whatever the order of the sum.
    async fn products_of_integers_are_exact(ctx) {
        let sizes = [1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65, 127, 129];
        let mut rows = Vec::new();
        for m in sizes {
            for k in sizes {
                for n in sizes {
                    rows.extend(integers(m, k, n));
                }
            }
        }
        rows.extend(integers(261, 390, 1158));
        rows.extend(integers(541, 1020, 1036));
        check(ctx, rows).await;
    }
}

/// The product both ways, of a[i][l] = (i + 2l) % 5 - 2 and b[l][j] = (3l + j) % 7 - 3.
fn integers(m: usize, k: usize, n: usize) -> [Row; 2] {
    let a = move |i: usize, l: usize| ((i + 2 * l) % 5) as f32 - 2.0;
    let b = move |l: usize, j: usize| ((3 * l + j) % 7) as f32 - 3.0;
    let a_data: Vec<f32> = (0..m * k).map(|x| a(x / k, x % k)).collect();
    let b_data: Vec<f32> = (0..k * n).map(|x| b(x / n, x % n)).collect();
    let bt_data: Vec<f32> = (0..n * k).map(|x| b(x % k, x / k)).collect();
    let (m32, k32, n32) = (m as u32, k as u32, n as u32);
    let label = format!("m {m} k {k} n {n}");
    let (a_again, label_bt) = (a_data.clone(), label.clone());
    let straight = move |ctx: &Context| {
        let want = reference::mm(&a_data, &b_data, m, k, n);
        let got = ctx.mm(&ctx.tensor(&a_data, &[m, k]), &ctx.tensor(&b_data, &[k, n]), m32, k32, n32);
        Case { label, got, shape: vec![m, n], bound: bound::exact(&want), want }
    };
    let transposed = move |ctx: &Context| {
        let want = reference::mm_bt(&a_again, &bt_data, m, n, k, 1.0);
        let got = ctx.mm_bt(&ctx.tensor(&a_again, &[m, k]), &ctx.tensor(&bt_data, &[n, k]), m32, n32, k32, 1.0);
        Case { label: label_bt, got, shape: vec![m, n], bound: bound::exact(&want), want }
    };
    [Row { op: "mm", case: Box::new(straight) }, Row { op: "mm_bt", case: Box::new(transposed) }]
}

gpu_test! {
    /// More elements than a grid of 65,535 workgroups, the most in one dimension, has invocations.
    async fn elementwise_beyond_one_dispatch_dimension(ctx) {
        for n in [65_535 * 64 + 1, 65_535 * 256 + 1] {
            let data: Vec<f32> = (0..n).map(|i| (i % 251) as f32 - 100.0).collect();
            let x = ctx.tensor(&data, &[n]);
            drop(data);
            type Expect = fn(f64) -> f64;
            let results: [(&str, _, Expect); 6] = [
                ("relu_t", ctx.relu_t(&x), reference::relu),
                ("gelu_t", ctx.gelu_t(&x), reference::gelu),
                ("add_t", ctx.add_t(&x, &x), |x| x + x),
                ("mul_scalar_t", ctx.mul_scalar_t(&x, &ctx.tensor(&[2.0], &[1])), |x| 2.0 * x),
                ("add_bias_t", ctx.add_bias_t(&x, &ctx.tensor(&[0.5], &[1])), |x| x + 0.5),
                ("swiglu_t", ctx.swiglu_t(&x, &x), |x| reference::silu(x) * x),
            ];
            drop(x);
            for (op, got, expect) in results {
                let got = ctx.to_vec(&got).await.expect("a read");
                assert_eq!(got.len(), n, "{op}");
                let want: Vec<f64> = (0..251).map(|i| expect(f64::from(i) - 100.0)).collect();
                let bound = if ["gelu_t", "swiglu_t"].contains(&op) { bound::transcendental(&want) } else { bound::exact(&want) };
                for (period, got) in got.chunks(251).enumerate() {
                    if let Err(text) = close(got, &want[..got.len()], &bound[..got.len()]) {
                        panic!("{op}, from element {} of {n}: {text}", period * 251);
                    }
                }
            }
        }
    }
}

gpu_test! {
    /// Each host-array op is an upload, a device op and a read.
    async fn host_array_ops(ctx) {
        let mut rng = Rng::new("host arrays");
        let (rows, d, n) = (5u32, 33u32, 17u32);
        let (rows_, d_, n_) = (rows as usize, d as usize, n as usize);
        let x = rng.unit(rows_ * d_);
        let y = rng.unit(rows_ * d_);
        let b = rng.unit(d_ * n_);
        let v = rng.unit(rows_ * n_);
        let (w, bias) = (rng.unit(d_), rng.unit(d_));
        let near = |got: tensorweft::Result<Vec<f32>>, want: Vec<f64>, bound: Vec<f64>| {
            close(&got.expect("a result"), &want, &bound).expect("close");
        };

        let want = reference::mm(&x, &b, rows_, d_, n_);
        near(ctx.matmul(&x, &b, rows, d, n).await, want, bound::mm(&x, &b, rows_, d_, n_));
        let want = reference::mm_bt(&x, &b, rows_, n_, d_, 0.3);
        near(ctx.matmul_bt(&x, &b, rows, n, d, 0.3).await, want, bound::mm_bt(&x, &b, rows_, n_, d_, 0.3));
        let want: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| f64::from(x) + f64::from(y)).collect();
        near(ctx.add(&x, &y).await, want.clone(), bound::elementwise(&want));
        let want: Vec<f64> = x.iter().map(|&x| reference::silu(f64::from(x))).collect();
        near(ctx.silu(&x).await, want.clone(), bound::transcendental(&want));
        let want = reference::softmax(&x, d_);
        near(ctx.softmax(&x, rows, d).await, want.clone(), bound::rows(&want, d_, 2e-6));
        let want = reference::layernorm(&x, &w, &bias, 1e-5);
        near(ctx.layernorm(&x, &w, &bias, rows, d, 1e-5).await, want.clone(), bound::rows(&want, d_, 2e-6));
        let want = reference::attention(&x, &y, &v, rows_, rows_, d_, n_, 0.2);
        near(ctx.attention(&x, &y, &v, rows, rows, d, n, 0.2).await, want.clone(), bound::attention(&want, &v, 1e-5));
    }
}

gpu_test! {
    /// With one key a query head returns the value of its group: neighbours share a group.
    async fn query_heads_read_their_group(ctx) {
        let groups: [(u32, u32, &[f32]); 4] = [
            (4, 2, &[1.0, 1.0, 2.0, 2.0]),
            (6, 2, &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
            (6, 3, &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
            (8, 1, &[1.0; 8]),
        ];
        for (hq, hkv, want) in groups {
            let q = ctx.tensor(&vec![0.5; hq as usize], &[1, hq as usize]);
            let k = ctx.tensor(&vec![0.25; hkv as usize], &[1, hkv as usize]);
            let v: Vec<f32> = (1..=hkv).map(|g| g as f32).collect();
            let v = ctx.tensor(&v, &[1, hkv as usize]);
            let outputs = [
                ctx.mha_decode_t(&q, &k, &v, hq, hkv, 1, 1),
                ctx.mha_causal_t(&q, &k, &v, 1, hq, hkv, 1),
                ctx.mha_causal_off_t(&q, &k, &v, 1, hq, hkv, 1, 0),
            ];
            for got in read_all(ctx, &outputs).await {
                assert_eq!(got, want, "{hq}/{hkv}");
            }
        }
    }
}

gpu_test! {
    /// All keys are equal, so two queries after a prefix of two give the means of 3 and of 4 values.
    async fn a_cached_prefix_is_seen(ctx) {
        let q = ctx.tensor(&[1.0, 1.0], &[2, 1]);
        let k = ctx.empty(&[4, 1]);
        let v = ctx.tensor(&[1.0, 2.0, 3.0, 4.0], &[4, 1]);
        let got = ctx.to_vec(&ctx.mha_causal_off_t(&q, &k, &v, 2, 1, 1, 1, 2)).await.expect("a read");
        close(&got, &[2.0, 2.5], &[1e-6, 1e-6]).expect("means");
    }
}

gpu_test! {
    /// A prompt at once, in two parts and token by token through a growing cache gives the same.
    async fn prefill_in_parts_is_prefill_at_once(ctx) {
        let heads = reference::Heads { hq: 4, hkv: 2, dh: 6 };
        let (t, wide, narrow) = (7, heads.hq * heads.dh, heads.hkv * heads.dh);
        let mut rng = Rng::new("prefill");
        let (q, k, v) = (rng.unit(t * wide), rng.unit(t * narrow), rng.unit(t * narrow));
        let want = reference::mha_causal(&q, &k, &v, t, heads, 0);
        let bound = bound::attention(&want, &v, 1e-5);
        let part = |data: &[f32], from: usize, to: usize, width: usize| {
            ctx.tensor(&data[from * width..to * width], &[to - from, width])
        };
        let (hq, hkv, dh) = (heads.hq as u32, heads.hkv as u32, heads.dh as u32);
        for cuts in [vec![0, 7], vec![0, 3, 7], vec![0, 1, 2, 3, 4, 5, 6, 7]] {
            let mut cache = ctx.kv_cache(9, narrow);
            let mut outputs = Vec::new();
            for cut in cuts.windows(2) {
                let (from, to) = (cut[0], cut[1]);
                cache.append(&part(&k, from, to, narrow), &part(&v, from, to, narrow)).expect("room");
                assert_eq!(cache.len(), to);
                let q = part(&q, from, to, wide);
                outputs.push(if to - from == 1 && from % 2 == 0 {
                    ctx.mha_decode_t(&q, &cache.k(), &cache.v(), hq, hkv, dh, to as u32)
                } else {
                    let rows = (to - from) as u32;
                    ctx.mha_causal_off_t(&q, &cache.k(), &cache.v(), rows, hq, hkv, dh, from as u32)
                });
            }
            let got = read_all(ctx, &outputs).await.concat();
            close(&got, &want, &bound).unwrap_or_else(|text| panic!("{cuts:?}: {text}"));
        }
    }
}

/// Appends rows in parts of the given sizes, turned on the way, and compares all that the cache then holds.
async fn turned_on_the_way(ctx: &Context, capacity: usize, h: usize, dh: usize, parts: &[usize]) {
    let width = h * dh;
    let mut rng = Rng::new(&format!("append {h} {dh}"));
    let rows: usize = parts.iter().sum();
    let (k, v) = (rng.unit(rows * width), rng.unit(rows * width));
    let mut cache = ctx.kv_cache(capacity, width);
    for &t in parts {
        let part = cache.len() * width..(cache.len() + t) * width;
        let [k, v] = [&k, &v].map(|data| ctx.tensor(&data[part.clone()], &[t, width]));
        cache.append_rope(&k, &v, h as u32, 5e5).expect("room");
    }
    assert_eq!(cache.len(), rows);
    let mut want = reference::rope(&k, h, dh, 5e5, 0);
    let mut bound = bound::transcendental(&want);
    want.resize(capacity * width, 0.0);
    bound.resize(capacity * width, 0.0);
    let got = read_all(ctx, &[cache.k(), cache.v()]).await;
    close(&got[0], &want, &bound).unwrap_or_else(|text| panic!("{h} heads of {dh}, rows {parts:?}: {text}"));
    assert_eq!(got[1][..rows * width], v, "{h} heads of {dh}, rows {parts:?}");
    assert!(got[1][rows * width..].iter().all(|x| *x == 0.0));
}

gpu_test! {
    async fn a_cache_turns_keys_on_their_way(ctx) {
        for h in [1, 2, 3, 4, 5, 8, 9] {
            for dh in [2, 6, 8, 20, 64, 128] {
                turned_on_the_way(ctx, 13, h, dh, &[1, 0, 7, 1, 3]).await;
            }
        }
        turned_on_the_way(ctx, 70_001, 1, 8, &[1, 69_999]).await;
        // A cache may be given its own rows.
        let x = Rng::new("own rows").unit(3 * 16);
        let mut cache = ctx.kv_cache(3, 16);
        cache.append(&ctx.tensor(&x, &[3, 16]), &ctx.tensor(&x, &[3, 16])).expect("room");
        cache.truncate(0);
        cache.append_rope(&cache.k(), &cache.v(), 2, 1e4).expect("its own rows");
        let got = read_all(ctx, &[cache.k(), cache.v()]).await;
        let want = reference::rope(&x, 2, 8, 1e4, 0);
        close(&got[0], &want, &bound::transcendental(&want)).expect("turned");
        assert_eq!(got[1], x);
    }
}

gpu_test! {
    /// Ops give the same numbers in any order: none gets a cached pipeline or bind group that was made for another.
    async fn ops_in_any_order(ctx) {
        for seed in 0..4 {
            let mut rows: Vec<Row> = Vec::new();
            for _ in 0..2 {
                rows.extend(table::small());
            }
            Rng::new(&format!("order {seed}")).shuffle(&mut rows);
            check(ctx, rows).await;
        }
    }
}

gpu_test! {
    /// Reads that overlap each get their own values.
    async fn overlapping_reads(ctx) {
        for round in 0..20u32 {
            let (n, m) = (3 + round as usize * 17, 1 + round as usize);
            let x = ctx.tensor(&vec![round as f32; n], &[n]);
            let y = ctx.add_t(&x, &x);
            let a = vec![1.0; m * 4];
            let (reads, products) = futures_util::future::join(
                join_all([ctx.to_vec(&y), ctx.to_vec(&y), ctx.to_vec(&x)]),
                join_all([ctx.matmul(&a, &a, m as u32, 4, m as u32), ctx.matmul(&a, &a, m as u32, 4, m as u32)]),
            ).await;
            for (read, want) in reads.into_iter().zip([2.0, 2.0, 1.0]) {
                assert_eq!(read.expect("a read"), vec![want * round as f32; n]);
            }
            for product in products {
                assert_eq!(product.expect("a product"), vec![4.0; m * m]);
            }
        }
    }
}
