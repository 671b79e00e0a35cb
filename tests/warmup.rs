//! First use: what is compiled ahead of time is all that an op needs, at any shape, and no more.

use futures_util::future::join;
use std::collections::BTreeSet;
#[cfg(not(target_arch = "wasm32"))]
use tensorweft::Dtype;
use tensorweft::{Context, Tensor, kernels_of};

#[cfg(not(target_arch = "wasm32"))]
use crate::table;

/// A tensor of zeros that no kernel made.
fn t(ctx: &Context, rows: u32, cols: u32) -> Tensor {
    ctx.tensor(&vec![0.0; (rows * cols) as usize], &[rows as usize, cols as usize])
}

const NAMES: &[&str] = &["add_t", "softmax_t", "gather0", "rmsnorm_t"];

/// Lengths of rows that together run every kernel of the named ops.
const ROWS: [u32; 11] = [1, 3, 128, 129, 600, 2000, 3000, 3001, 5000, 9001, 9004];

/// Runs the named ops on rows of each length.
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
    /// Two warm-ups at once and ops between them compile each pipeline once.
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
        // Native threads may have compiled it before the context is destroyed.
        assert!(cut.is_ok() || cut.is_err_and(|e| e.code() == "device-lost"));
        let late = ctx.warmup(&["add_t"], |_, _| {}).await.expect_err("a lost device");
        assert_eq!(late.code(), "device-lost");
    }
}

#[cfg(not(target_arch = "wasm32"))]
gpu_test! {
    /// The kernels that an op names are exactly those that its cases run.
    async fn every_op_names_its_kernels() {
        let mut all = BTreeSet::new();
        let mut runs = |name: &str, ctx: &Context| {
            ctx.flush();
            let ran = ctx.compiled();
            assert_eq!(ran, kernels_of(name), "{name}");
            all.extend(ran);
        };
        for op in table::table() {
            let (name, ctx) = (op.name, crate::own().await);
            for row in op.reach() {
                let case = (row.case)(&ctx);
                assert!(case.got.error().is_none(), "{name} {}: {:?}", case.label, case.got);
            }
            runs(name, &ctx);
        }
        // What gives no tensor of other tensors is not in the table.
        let ctx = crate::own().await;
        drop(ctx.empty(&[3]));
        runs("empty", &ctx);
        let ctx = crate::own().await;
        for (width, heads) in [(4, 1), (8, 1), (8, 2), (16, 2)] {
            let mut cache = ctx.kv_cache(2, width as usize);
            cache.append(&t(&ctx, 1, width), &t(&ctx, 1, width)).expect("room");
            ctx.kv_cache_as(1, 3, Dtype::F16).append(&t(&ctx, 1, 3), &t(&ctx, 1, 3)).expect("room");
            cache.append_rope(&t(&ctx, 1, width), &t(&ctx, 1, width), heads, 1e4).expect("room");
        }
        runs("kv_cache", &ctx);

        // The twins that read f16 are compiled by their first use.
        let names = tensorweft::kernels().into_iter().map(|row| row.name);
        let kernels: BTreeSet<_> = names.filter(|name| !name.ends_with("_F16")).collect();
        assert_eq!(all, kernels, "kernels that no op names");

        let ctx = crate::own().await;
        ctx.warmup(&[], |_, _| {}).await.expect("all of them");
        assert_eq!(ctx.compiled().len(), kernels.len());
    }
}
