//! First use: what is compiled ahead of time is all that an op needs, at any shape, and no more.

use futures_util::future::join;
use std::collections::BTreeSet;
#[cfg(not(target_arch = "wasm32"))]
use tensorweft::{Activation, Dtype};
use tensorweft::{Context, Tensor, kernels_of};

/// A tensor of zeros that no kernel made.
fn t(ctx: &Context, rows: u32, cols: u32) -> Tensor {
    ctx.tensor(&vec![0.0; (rows * cols) as usize], &[rows as usize, cols as usize])
}

const NAMES: &[&str] = &["add_t", "softmax_t", "gather0", "rmsnorm_t"];

/// Lengths of rows, so that each kernel has one.
const ROWS: [u32; 11] = [1, 3, 128, 129, 600, 2000, 3000, 3001, 5000, 9001, 9004];

/// Those ops at shapes for every kernel that they have.
fn run(ctx: &Context) -> Vec<Tensor> {
    let mut results = Vec::new();
    for d in ROWS {
        let x = ctx.add_t(&t(ctx, 2, d), &t(ctx, 2, d));
        let x = ctx.rmsnorm_t(&x, &t(ctx, 1, d), 2, d, 1e-5);
        results.push(ctx.gather0(&ctx.softmax_t(&x, 2, d), &[1], d as usize));
    }
    results
}

gpu_test! {
    async fn nothing_is_compiled_after_a_warmup() {
        let ctx = crate::own().await;
        let mut heard = Vec::new();
        ctx.warmup(NAMES, |done, total| heard.push((done, total))).await.expect("a warm-up");
        let wanted: BTreeSet<_> = NAMES.iter().flat_map(|op| kernels_of(op)).collect();
        assert_eq!(ctx.compiled().into_iter().collect::<BTreeSet<_>>(), wanted);
        assert_eq!(ctx.stats().pipelines_created as usize, wanted.len());
        assert!(heard.is_sorted_by(|a, b| a.0 < b.0), "{heard:?}");
        assert_eq!(heard.last(), Some(&(wanted.len(), wanted.len())));

        let results = run(&ctx);
        for (y, d) in results.iter().zip(ROWS) {
            let got = ctx.to_vec(y).await.expect("a read");
            assert!(got.len() == d as usize && got.iter().all(|x| (x * d as f32 - 1.0).abs() < 1e-5), "row of {d}");
        }
        ctx.warmup(NAMES, |_, _| {}).await.expect("a second");
        assert_eq!(ctx.stats().pipelines_created as usize, wanted.len());
    }
}

gpu_test! {
    /// Two at once and an op in between compile nothing twice, but what the op could not wait for.
    async fn warmups_meet_each_other_and_ops() {
        let ctx = crate::own().await;
        let names = ["relu_t", "mul_t"];
        let (x, y) = (ctx.tensor(&[-1.0, 2.0], &[2]), ctx.tensor(&[4.0, 4.0], &[2]));
        let op = async { ctx.to_vec(&ctx.mul_t(&ctx.relu_t(&x), &y)).await };
        let warm = join(ctx.warmup(&names, |_, _| {}), ctx.warmup(&names[..1], |_, _| {}));
        let ((first, second), got) = join(warm, op).await;
        first.and(second).expect("warm-ups");
        assert_eq!(got.expect("a read"), [0.0, 8.0]);
        assert_eq!(ctx.compiled().len(), 2);
        assert_eq!(ctx.stats().pipelines_created, 2);
    }
}

gpu_test! {
    async fn a_warmup_that_cannot_be_says_so() {
        let ctx = crate::own().await;
        let unknown = ctx.warmup(&["add_t", "addition"], |_, _| {}).await.expect_err("no such op");
        assert_eq!((unknown.code(), unknown.op()), ("invalid-argument", "warmup"));
        assert!(unknown.to_string().contains("addition"), "{unknown}");
        assert_eq!(ctx.compiled(), [""; 0]);
        let mut warm = Box::pin(ctx.warmup(&["gelu_t"], |_, _| {}));
        let destroyed = async { ctx.destroy() };
        let (cut, ()) = join(&mut warm, destroyed).await;
        // Natively the threads may be faster.
        assert!(cut.is_ok() || cut.is_err_and(|e| e.code() == "device-lost"));
        let late = ctx.warmup(&["add_t"], |_, _| {}).await.expect_err("a lost device");
        assert_eq!(late.code(), "device-lost");
    }
}

/// An op, and what runs it.
#[cfg(not(target_arch = "wasm32"))]
type Reach = (&'static str, fn(&Context));

/// Each op at shapes that reach every kernel it has.
#[cfg(not(target_arch = "wasm32"))]
const REACH: &[Reach] = &[
    ("empty", |c| drop(c.empty(&[3]))),
    ("to_dtype", |c| drop(c.to_dtype(&c.to_dtype(&t(c, 2, 3), Dtype::F16), Dtype::F32))),
    ("mm", |c| products(|m, k, n| c.mm(&t(c, m, k), &t(c, k, n), m, k, n))),
    ("mm_bt", |c| products(|m, k, n| c.mm_bt(&t(c, m, k), &t(c, n, k), m, n, k, 0.5))),
    ("silu_t", |c| drop(c.silu_t(&t(c, 2, 3)))),
    ("sigmoid_t", |c| drop(c.sigmoid_t(&t(c, 2, 3)))),
    ("sqrt_t", |c| drop(c.sqrt_t(&t(c, 2, 3)))),
    ("gelu_t", |c| drop(c.gelu_t(&t(c, 2, 3)))),
    ("gelu_tanh_t", |c| drop(c.gelu_tanh_t(&t(c, 2, 3)))),
    ("relu_t", |c| drop(c.relu_t(&t(c, 2, 3)))),
    ("add_t", |c| drop(c.add_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("sub_t", |c| drop(c.sub_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("mul_t", |c| drop(c.mul_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("div_t", |c| drop(c.div_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("mul_scalar_t", |c| drop(c.mul_scalar_t(&t(c, 2, 3), &t(c, 1, 1)))),
    ("scale_t", |c| drop(c.scale_t(&t(c, 2, 3), 2.0))),
    ("add_bias_t", |c| drop(c.add_bias_t(&t(c, 2, 3), &t(c, 1, 3)))),
    ("add_bias_act_t", |c| {
        for act in [Activation::Relu, Activation::Silu, Activation::Gelu, Activation::GeluTanh] {
            drop(c.add_bias_act_t(&t(c, 2, 3), &t(c, 1, 3), act));
        }
    }),
    ("swiglu_t", |c| drop(c.swiglu_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("geglu_t", |c| drop(c.geglu_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("geglu_tanh_t", |c| drop(c.geglu_tanh_t(&t(c, 2, 3), &t(c, 2, 3)))),
    ("dup", |c| drop(c.dup(&t(c, 2, 3), vec![6]))),
    ("gather0", |c| {
        drop((c.gather0(&t(c, 2, 3), &[1], 3), c.gather0(&t(c, 2, 4), &[1], 4), c.gather0(&t(c, 2, 3), &[], 3)));
    }),
    ("transpose2d_t", |c| drop((c.transpose2d_t(&t(c, 2, 3), 2, 3), c.transpose2d_t(&t(c, 4, 8), 4, 8)))),
    ("softmax_t", |c| rows(|d| c.softmax_t(&t(c, 2, d), 2, d))),
    ("rmsnorm_t", |c| rows(|d| c.rmsnorm_t(&t(c, 2, d), &t(c, 1, d), 2, d, 1e-5))),
    ("layernorm_t", |c| rows(|d| c.layernorm_t(&t(c, 2, d), &t(c, 1, d), &t(c, 1, d), 2, d, 1e-5))),
    ("add_rmsnorm_t", |c| {
        rows(|d| c.add_rmsnorm_t(&t(c, 2, d), &t(c, 2, d), &t(c, 1, d), 2, d, 1e-5).1);
    }),
    ("add_layernorm_t", |c| {
        rows(|d| c.add_layernorm_t(&t(c, 2, d), &t(c, 2, d), &t(c, 1, d), &t(c, 1, d), 2, d, 1e-5).1);
    }),
    ("rope_t", |c| drop((c.rope_t(&t(c, 2, 4), 2, 1, 4, 1e4), c.rope_t(&t(c, 2, 8), 2, 1, 8, 1e4)))),
    ("rope_off_t", |c| drop((c.rope_off_t(&t(c, 2, 4), 2, 1, 4, 1e4, 3), c.rope_off_t(&t(c, 2, 8), 2, 1, 8, 1e4, 3)))),
    ("mha_decode_t", |c| {
        heads(|t_len, h, dh, s| {
            if t_len > 1 {
                return None;
            }
            Some(c.mha_decode_t(&t(c, 1, h * dh), &t(c, s, dh), &t(c, s, dh), h, 1, dh, s))
        });
    }),
    ("mha_causal_t", |c| {
        heads(|_, h, dh, s| Some(c.mha_causal_t(&t(c, s, h * dh), &t(c, s, dh), &t(c, s, dh), s, h, 1, dh)));
    }),
    ("mha_causal_off_t", |c| {
        heads(|n, h, dh, s| {
            let offset = s.checked_sub(n)?;
            Some(c.mha_causal_off_t(&t(c, n, h * dh), &t(c, s, dh), &t(c, s, dh), n, h, 1, dh, offset))
        });
    }),
    ("attention_t", |c| {
        heads(|n, h, dh, s| Some(c.attention_t(&t(c, n * h, dh), &t(c, s, dh), &t(c, s, dh), n * h, s, dh, dh, 1.0)));
    }),
    ("kv_cache", |c| {
        for width in [4, 8] {
            let mut cache = c.kv_cache(2, width as usize);
            cache.append(&t(c, 1, width), &t(c, 1, width)).expect("room");
            c.kv_cache_as(1, 3, Dtype::F16).append(&t(c, 1, 3), &t(c, 1, 3)).expect("room");
            cache.append_rope(&t(c, 1, width), &t(c, 1, width), 1, 1e4).expect("room");
        }
    }),
];

#[cfg(not(target_arch = "wasm32"))]
fn products(f: impl Fn(u32, u32, u32) -> Tensor) {
    let sizes = [(1800, 33, 1900), (65, 2049, 1925), (700, 40, 1000), (33, 20, 10_241), (20, 30, 6401), (40, 1030, 36)];
    let few = [(8, 700, 3001), (5, 1025, 9), (1, 1025, 9), (1, 20, 8201), (2, 0, 2)];
    for (m, k, n) in sizes.into_iter().chain(few) {
        assert!(f(m, k, n).error().is_none());
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn rows(f: impl Fn(u32) -> Tensor) {
    for d in [99, 100, 500, 501, 2000, 3001, 4000, 8000, 9000, 9001] {
        assert!(f(d).error().is_none());
    }
}

/// New rows, heads for one of keys, their size, and keys.
#[cfg(not(target_arch = "wasm32"))]
fn heads(f: impl Fn(u32, u32, u32, u32) -> Option<Tensor>) {
    for rows in [1, 2, 20] {
        for heads in [1, 4, 8] {
            for dh in [63, 64, 68, 130] {
                for s in [0, 1, 2, 150] {
                    assert!(f(rows, heads, dh, s).is_none_or(|y| y.error().is_none()));
                }
            }
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
gpu_test! {
    /// The table of what each op may run holds neither less nor more than what it does run.
    async fn every_op_names_its_kernels() {
        let mut all = BTreeSet::new();
        for (op, run) in REACH {
            let ctx = crate::own().await;
            run(&ctx);
            ctx.flush();
            let ran = ctx.compiled();
            assert_eq!(ran, kernels_of(op), "{op}");
            all.extend(ran);
        }
        // The twins that read f16 are compiled by their first use.
        let names = tensorweft::kernels().into_iter().map(|row| row.name);
        let table: BTreeSet<_> = names.filter(|name| !name.ends_with("_F16")).collect();
        assert_eq!(all, table, "kernels that no op names");
        let named: BTreeSet<_> = crate::cases::TABLE.iter().map(|(op, _)| *op).collect();
        let reached: BTreeSet<_> = REACH.iter().map(|(op, _)| *op).collect();
        assert!(named.is_subset(&reached), "ops that nothing here runs");

        let ctx = crate::own().await;
        ctx.warmup(&[], |_, _| {}).await.expect("all of them");
        assert_eq!(ctx.compiled().len(), table.len());
    }
}
