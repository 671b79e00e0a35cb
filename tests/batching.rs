//! What reaches the GPU: how many submits, buffers and bind groups a model's layer costs, and that memory does not grow.

use futures_util::future::join_all;
use tensorweft::{Activation, Context, Tensor};

use crate::check::Rng;

/// A transformer layer's weights, on the GPU.
struct Layer {
    norm: Tensor,
    qkv: [Tensor; 3],
    out: Tensor,
    up: Tensor,
    down: Tensor,
}

const T: u32 = 5;
const D: u32 = 16;
const HEADS: u32 = 2;
const WIDE: u32 = 40;

impl Layer {
    fn new(ctx: &Context) -> Self {
        let mut rng = Rng::new("layer");
        let mut matrix = |n: u32, k: u32| ctx.tensor(&rng.unit((n * k) as usize), &[n as usize, k as usize]);
        Self {
            qkv: [matrix(D, D), matrix(D, D), matrix(D, D)],
            out: matrix(D, D),
            up: matrix(WIDE, D),
            down: matrix(D, WIDE),
            norm: ctx.tensor(&[1.0; D as usize], &[D as usize]),
        }
    }

    /// Thirteen ops.
    fn run(&self, ctx: &Context, x: &Tensor) -> Tensor {
        let y = ctx.rmsnorm_t(x, &self.norm, T, D, 1e-5);
        let [q, k, v] = [0, 1, 2].map(|i| ctx.mm_bt(&y, &self.qkv[i], T, D, D, 1.0));
        let q = ctx.rope_t(&q, T, HEADS, D / HEADS, 1e4);
        let k = ctx.rope_t(&k, T, HEADS, D / HEADS, 1e4);
        let y = ctx.mha_causal_t(&q, &k, &v, T, HEADS, HEADS, D / HEADS);
        let x = ctx.add_t(x, &ctx.mm_bt(&y, &self.out, T, D, D, 1.0));
        let y = ctx.silu_t(&ctx.mm_bt(&x, &self.up, T, WIDE, D, 1.0));
        ctx.add_t(&x, &ctx.mm_bt(&y, &self.down, T, D, WIDE, 1.0))
    }
}

gpu_test! {
    async fn a_layer_is_one_submit_and_a_second_creates_nothing() {
        let ctx = crate::own().await;
        let layer = Layer::new(&ctx);
        let x = ctx.tensor(&Rng::new("x").unit((T * D) as usize), &[T as usize, D as usize]);
        let first = ctx.to_vec(&layer.run(&ctx, &x)).await.expect("a layer");
        assert!(first.iter().all(|x| x.is_finite()));

        let before = ctx.stats();
        let y = layer.run(&ctx, &x);
        assert_eq!(ctx.stats().submits, before.submits, "queueing alone submits nothing");
        let second = ctx.to_vec(&y).await.expect("a layer");
        drop(y);
        let after = ctx.stats();
        assert_eq!(second, first);
        assert_eq!(after.submits - before.submits, 1, "one submit for all ops and the read");
        assert!(after.dispatches - before.dispatches >= 13);
        assert_eq!(after.buffers_created, before.buffers_created, "buffers");
        assert_eq!(after.bind_groups_created, before.bind_groups_created, "bind groups");
        assert_eq!(after.pipelines_created, before.pipelines_created, "pipelines");
    }
}

gpu_test! {
    /// Each op that does several steps of a layer at once is one dispatch, and makes no buffer the second time.
    async fn fused_ops_are_one_dispatch() {
        let ctx = crate::own().await;
        let x = ctx.tensor(&Rng::new("x").unit((T * D) as usize), &[T as usize, D as usize]);
        let w = ctx.tensor(&[1.0; D as usize], &[D as usize]);
        let mut cache = ctx.kv_cache(2 * T as usize, D as usize);
        for round in 0..2 {
            let before = ctx.stats();
            let activated = ctx.add_bias_act_t(&x, &w, Activation::Gelu);
            let (sum, normed) = ctx.add_rmsnorm_t(&x, &activated, &w, T, D, 1e-5);
            let (sum, normed) = ctx.add_layernorm_t(&sum, &normed, &w, &w, T, D, 1e-5);
            cache.append_rope(&ctx.swiglu_t(&sum, &normed), &sum, HEADS, 1e4).expect("room");
            let after = ctx.stats();
            assert_eq!(after.dispatches - before.dispatches, 5);
            ctx.to_vec(&cache.k()).await.expect("a read");
            if round == 1 {
                assert_eq!(after.buffers_created, before.buffers_created, "buffers");
                assert_eq!(after.bind_groups_created, before.bind_groups_created, "bind groups");
            }
        }
        // An op of two results counts as two tensors, and gives both back.
        let before = ctx.memory();
        let pair = ctx.add_rmsnorm_t(&x, &x, &w, T, D, 1e-5);
        assert_eq!(ctx.memory().tensors, before.tensors + 2);
        drop(pair);
        assert_eq!(ctx.memory().tensors, before.tensors);
    }
}

gpu_test! {
    /// New lengths need no new pipeline.
    async fn shapes_are_no_reason_to_compile() {
        let ctx = crate::own().await;
        let run = |t: usize| {
            let x = ctx.tensor(&vec![0.5; t * 8], &[t, 8]);
            let w = ctx.tensor(&[1.0; 8], &[8]);
            let t = t as u32;
            let x = ctx.rope_t(&ctx.rmsnorm_t(&x, &w, t, 8, 1e-5), t, 2, 4, 1e4);
            let y = ctx.mha_causal_t(&x, &x, &x, t, 2, 2, 4);
            ctx.softmax_t(&ctx.mm_bt(&y, &y, t, t, 8, 1.0), t, t)
        };
        // Each size and width of the kernels that are run.
        for t in [1, 4, 5, 9, 20, 50, 100] {
            ctx.to_vec(&run(t)).await.expect("warm");
        }
        let before = ctx.stats().pipelines_created;
        let results: Vec<Tensor> = (1..100).map(run).collect();
        for (read, t) in join_all(results.iter().map(|y| ctx.to_vec(y))).await.into_iter().zip(1..) {
            assert_eq!(read.expect("a read").len(), t * t);
        }
        assert_eq!(ctx.stats().pipelines_created, before);
    }
}

gpu_test! {
    /// Host-array ops that are started together share submits.
    async fn concurrent_reads_share_a_submit() {
        let ctx = crate::own().await;
        let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
        ctx.add(&x, &x).await.expect("warm");
        let before = ctx.stats().submits;
        let sums = join_all((0..100).map(|i| {
            let ctx = &ctx;
            let x = x.clone();
            async move { ctx.add(&x, &vec![i as f32; 100]).await }
        })).await;
        for (i, sum) in sums.into_iter().enumerate() {
            let want: Vec<f32> = x.iter().map(|x| x + i as f32).collect();
            assert_eq!(sum.expect("a sum"), want);
        }
        let submits = ctx.stats().submits - before;
        assert!(submits <= 4, "{submits} submits for 100 sums");
    }
}

gpu_test! {
    async fn memory_stays_flat_over_ten_thousand_rounds() {
        let ctx = crate::own().await;
        let x = ctx.tensor(&Rng::new("flat").unit(1000), &[1000]);
        let mut at = Vec::new();
        for round in 1..=10_000 {
            let y = ctx.relu_t(&ctx.add_t(&x, &x));
            let z = ctx.mul_scalar_t(&ctx.tensor(&[round as f32; 10], &[10]), &ctx.tensor(&[2.0], &[1]));
            if round % 1000 == 0 {
                ctx.to_vec(&y).await.expect("a read");
                assert_eq!(ctx.to_vec(&z).await.expect("a read"), [2.0 * round as f32; 10]);
                drop((y, z));
                at.push(ctx.memory());
            }
        }
        let (first, last) = (&at[0], &at[9]);
        assert_eq!((last.tensors, last.live_bytes), (1, first.live_bytes), "only x is left");
        assert!(first.live_bytes >= 4000 && first.live_bytes <= 8192, "{} bytes for 1000 floats", first.live_bytes);
        assert_eq!(last.pooled_bytes, first.pooled_bytes, "the pool");
        assert_eq!(last.peak_bytes, first.peak_bytes, "the peak");
    }
}

gpu_test! {
    /// An upload into a recycled buffer must not overtake the work that still reads the old values.
    async fn an_upload_waits_for_the_work_on_a_dropped_tensor(ctx) {
        let n = 1000;
        let mut results = Vec::new();
        for i in 0..500 {
            let (a, b) = (ctx.tensor(&vec![i as f32; n], &[n]), ctx.tensor(&vec![1.0; n], &[n]));
            let y = ctx.add_t(&a, &b);
            drop((a, b));
            let noise = ctx.tensor(&vec![-7.0; n], &[n]);
            results.push((y, noise));
        }
        let reads = join_all(results.iter().map(|(y, _)| ctx.to_vec(y))).await;
        for (i, read) in reads.into_iter().enumerate() {
            assert_eq!(read.expect("a read"), vec![i as f32 + 1.0; n]);
        }
        for read in join_all(results.iter().map(|(_, noise)| ctx.to_vec(noise))).await {
            assert_eq!(read.expect("a read"), vec![-7.0; n]);
        }
    }
}

gpu_test! {
    /// A recycled buffer shows nothing of what it held before.
    async fn recycled_buffers_are_clean(ctx) {
        for round in 0..6 {
            let seven = ctx.tensor(&vec![7.0; 1000], &[1000]);
            ctx.to_vec(&ctx.add_t(&seven, &seven)).await.expect("a read");
            drop(seven);
            let small = ctx.tensor(&[1.0, 2.0, 3.0], &[1, 3]);
            assert_eq!(ctx.to_vec(&small).await.expect("a read"), [1.0, 2.0, 3.0]);
            let sum: f32 = ctx.to_vec(&ctx.softmax_t(&small, 1, 3)).await.expect("a read").iter().sum();
            assert!((sum - 1.0).abs() < 1e-6);
            let n = 900 + round;
            assert_eq!(ctx.to_vec(&ctx.empty(&[n])).await.expect("a read"), vec![0.0; n], "empty reads as zeros");
        }
    }
}

gpu_test! {
    /// Each op keeps its own parameters, however many ops are queued before the submit.
    async fn a_thousand_parameters_in_one_batch(ctx) {
        let x = ctx.tensor(&[1.0, 2.0, 3.0, 4.0], &[1, 4]);
        let scaled: Vec<Tensor> = (0..1000).map(|i| ctx.mm_bt(&x, &x, 1, 1, 4, i as f32)).collect();
        let multiplied: Vec<Tensor> =
            (0..1000).map(|i| ctx.mul_scalar_t(&x, &ctx.tensor(&[i as f32], &[1]))).collect();
        let turned: Vec<Tensor> = (0..50).map(|i| ctx.rope_off_t(&x, 1, 1, 4, 1e4, i)).collect();
        for (i, read) in join_all(scaled.iter().map(|y| ctx.to_vec(y))).await.into_iter().enumerate() {
            assert_eq!(read.expect("a read"), [30.0 * i as f32]);
        }
        for (i, read) in join_all(multiplied.iter().map(|y| ctx.to_vec(y))).await.into_iter().enumerate() {
            assert_eq!(read.expect("a read"), [1.0, 2.0, 3.0, 4.0].map(|x| x * i as f32));
        }
        for (i, read) in join_all(turned.iter().map(|y| ctx.to_vec(y))).await.into_iter().enumerate() {
            let want = f64::from(i as u32).cos() - 3.0 * f64::from(i as u32).sin();
            assert!((f64::from(read.expect("a read")[0]) - want).abs() < 2e-5, "position {i}");
        }
    }
}
