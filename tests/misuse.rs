//! Every misuse gives an error with a code and the op's name: never a panic, never a wrong number,
//! and the context works on.

use tensorweft::{Activation, Context, Dtype, Tensor};

use crate::check::read_all;
use crate::table::{WIDE, input, table};

/// op, code, the misuse
type Misuse = (&'static str, &'static str, fn(&Context) -> Tensor);

const SHAPE: &str = "shape-mismatch";
const ARGUMENT: &str = "invalid-argument";
const INDEX: &str = "index-out-of-range";
const LIMIT: &str = "limit-exceeded";

/// A tensor of counting numbers.
fn t(ctx: &Context, shape: &[usize]) -> Tensor {
    let data: Vec<f32> = (0..shape.iter().product()).map(|i| i as f32).collect();
    ctx.tensor(&data, shape)
}

/// The same, stored as f16.
fn half(ctx: &Context, shape: &[usize]) -> Tensor {
    ctx.to_dtype(&t(ctx, shape), Dtype::F16)
}

const HUGE: u32 = u32::MAX;

const MISUSES: &[Misuse] = &[
    // Data that is not the shape's product.
    ("tensor", SHAPE, |c| c.tensor(&[1.0, 2.0, 3.0], &[2, 2])),
    ("tensor", SHAPE, |c| c.tensor(&[], &[1])),
    ("tensor", SHAPE, |c| c.tensor(&[1.0], &[0])),
    ("tensor", SHAPE, |c| c.tensor(&[1.0; 5], &[4])),
    ("tensor_f16", SHAPE, |c| c.tensor_f16(&[1.0, 2.0, 3.0], &[2, 2])),
    ("tensor_f16_bits", SHAPE, |c| c.tensor_f16_bits(&[1, 2, 3], &[4])),
    ("tensor_f16_bits", SHAPE, |c| c.tensor_f16_bits(&[1], &[0])),
    // Products.
    ("mm", SHAPE, |c| c.mm(&t(c, &[2, 3]), &t(c, &[4, 5]), 2, 3, 5)),
    ("mm", SHAPE, |c| c.mm(&t(c, &[2, 3]), &t(c, &[3, 5]), 3, 3, 5)),
    ("mm", SHAPE, |c| c.mm(&t(c, &[2, 3]), &t(c, &[3, 5]), 2, 3, 4)),
    ("mm", SHAPE, |c| c.mm(&t(c, &[2, 3]), &t(c, &[3, 5]), 0, 3, 5)),
    ("mm", SHAPE, |c| c.mm(&t(c, &[0, 3]), &t(c, &[3, 5]), 1, 3, 5)),
    ("mm_bt", SHAPE, |c| c.mm_bt(&t(c, &[2, 3]), &t(c, &[5, 4]), 2, 5, 3, 1.0)),
    ("mm_bt", SHAPE, |c| c.mm_bt(&t(c, &[2, 3]), &t(c, &[5, 3]), 2, 3, 5, 1.0)),
    ("mm_bt", SHAPE, |c| c.mm_bt(&t(c, &[2, 3]), &half(c, &[5, 4]), 2, 5, 3, 1.0)),
    // Elementwise.
    ("mul_scalar_t", SHAPE, |c| c.mul_scalar_t(&t(c, &[4]), &t(c, &[2]))),
    ("mul_scalar_t", SHAPE, |c| c.mul_scalar_t(&t(c, &[4]), &t(c, &[0]))),
    ("add_bias_t", SHAPE, |c| c.add_bias_t(&t(c, &[2, 3]), &t(c, &[4]))),
    ("add_bias_t", SHAPE, |c| c.add_bias_t(&t(c, &[2, 3]), &t(c, &[0]))),
    ("add_bias_act_t", SHAPE, |c| c.add_bias_act_t(&t(c, &[2, 3]), &t(c, &[4]), Activation::Gelu)),
    // Moving data.
    ("dup", SHAPE, |c| c.dup(&t(c, &[2, 3]), vec![2, 2])),
    ("dup", SHAPE, |c| c.dup(&t(c, &[2, 3]), vec![])),
    ("dup", SHAPE, |c| c.dup(&t(c, &[2, 3]), vec![0, 6])),
    ("dup", SHAPE, |c| c.dup(&half(c, &[3]), vec![4])),
    ("gather0", INDEX, |c| c.gather0(&half(c, &[3, 1]), &[3], 1)),
    ("gather0", INDEX, |c| c.gather0(&t(c, &[4, 3]), &[4], 3)),
    ("gather0", INDEX, |c| c.gather0(&t(c, &[4, 3]), &[0, 1, HUGE], 3)),
    ("gather0", INDEX, |c| c.gather0(&t(c, &[0, 3]), &[0], 3)),
    ("gather0", SHAPE, |c| c.gather0(&t(c, &[4, 3]), &[0], 5)),
    ("transpose2d_t", SHAPE, |c| c.transpose2d_t(&t(c, &[2, 3]), 3, 3)),
    // Rows.
    ("softmax_t", SHAPE, |c| c.softmax_t(&t(c, &[2, 3]), 2, 4)),
    ("softmax_t", SHAPE, |c| c.softmax_t(&t(c, &[2, 3]), 0, 3)),
    ("rmsnorm_t", SHAPE, |c| c.rmsnorm_t(&t(c, &[2, 3]), &t(c, &[2]), 2, 3, 1e-5)),
    ("rmsnorm_t", SHAPE, |c| c.rmsnorm_t(&t(c, &[2, 3]), &t(c, &[3]), 3, 3, 1e-5)),
    ("layernorm_t", SHAPE, |c| c.layernorm_t(&t(c, &[2, 3]), &t(c, &[3]), &t(c, &[2]), 2, 3, 1e-5)),
    ("layernorm_t", SHAPE, |c| c.layernorm_t(&t(c, &[2, 3]), &t(c, &[4]), &t(c, &[3]), 2, 3, 1e-5)),
    ("add_rmsnorm_t", SHAPE, |c| c.add_rmsnorm_t(&t(c, &[2, 3]), &t(c, &[2, 3]), &t(c, &[2]), 2, 3, 1e-5).0),
    ("add_rmsnorm_t", SHAPE, |c| c.add_rmsnorm_t(&t(c, &[2, 3]), &t(c, &[3]), &t(c, &[3]), 2, 3, 1e-5).1),
    ("add_rmsnorm_t", SHAPE, |c| c.add_rmsnorm_t(&t(c, &[3]), &t(c, &[2, 3]), &t(c, &[3]), 2, 3, 1e-5).0),
    ("add_rmsnorm_t", SHAPE, |c| c.add_rmsnorm_t(&t(c, &[2, 9000]), &t(c, &[9000]), &t(c, &[9000]), 2, 9000, 1e-5).1),
    ("add_layernorm_t", SHAPE, |c| c.add_layernorm_t(&t(c, &[6]), &t(c, &[6]), &t(c, &[3]), &t(c, &[2]), 2, 3, 0.1).1),
    ("add_layernorm_t", SHAPE, |c| c.add_layernorm_t(&t(c, &[6]), &t(c, &[6]), &t(c, &[2]), &t(c, &[3]), 2, 3, 0.1).0),
    ("add_layernorm_t", SHAPE, |c| c.add_layernorm_t(&t(c, &[6]), &t(c, &[5]), &t(c, &[3]), &t(c, &[3]), 2, 3, 0.1).0),
    ("rope_t", SHAPE, |c| c.rope_t(&t(c, &[2, 8]), 2, 2, 6, 1e4)),
    ("rope_t", SHAPE, |c| c.rope_t(&t(c, &[2, 8]), 3, 2, 4, 1e4)),
    ("rope_t", ARGUMENT, |c| c.rope_t(&t(c, &[2, 6]), 2, 2, 3, 1e4)),
    ("rope_t", ARGUMENT, |c| c.rope_t(&t(c, &[2, 8]), 2, 2, 4, f32::NAN)),
    ("rope_t", ARGUMENT, |c| c.rope_t(&t(c, &[2, 8]), 2, 2, 4, 0.0)),
    ("rope_off_t", ARGUMENT, |c| c.rope_off_t(&t(c, &[2, 8]), 2, 2, 4, 1e4, HUGE)),
    ("rope_off_t", SHAPE, |c| c.rope_off_t(&t(c, &[2, 8]), 1, 2, 4, 1e4, 3)),
    // Attention.
    ("mha_decode_t", ARGUMENT, |c| c.mha_decode_t(&t(c, &[1, 10]), &t(c, &[3, 4]), &t(c, &[3, 4]), 5, 2, 2, 3)),
    ("mha_decode_t", ARGUMENT, |c| c.mha_decode_t(&t(c, &[1, 10]), &t(c, &[3, 0]), &t(c, &[3, 0]), 5, 0, 2, 3)),
    ("mha_decode_t", SHAPE, |c| c.mha_decode_t(&t(c, &[1, 8]), &t(c, &[3, 4]), &t(c, &[3, 4]), 4, 2, 2, 4)),
    ("mha_decode_t", SHAPE, |c| c.mha_decode_t(&t(c, &[2, 8]), &t(c, &[3, 4]), &t(c, &[3, 4]), 4, 2, 2, 3)),
    ("mha_decode_t", SHAPE, |c| c.mha_decode_t(&t(c, &[1, 8]), &t(c, &[3, 4]), &t(c, &[2, 4]), 4, 2, 2, 3)),
    ("mha_causal_t", ARGUMENT, |c| c.mha_causal_t(&t(c, &[3, 6]), &t(c, &[3, 4]), &t(c, &[3, 4]), 3, 3, 2, 2)),
    ("mha_causal_t", SHAPE, |c| c.mha_causal_t(&t(c, &[3, 8]), &t(c, &[2, 4]), &t(c, &[3, 4]), 3, 4, 2, 2)),
    ("mha_causal_t", SHAPE, |c| c.mha_causal_t(&t(c, &[3, 7]), &t(c, &[3, 4]), &t(c, &[3, 4]), 3, 4, 2, 2)),
    ("mha_causal_off_t", SHAPE, |c| c.mha_causal_off_t(&t(c, &[3, 8]), &t(c, &[4, 4]), &t(c, &[4, 4]), 3, 4, 2, 2, 2)),
    ("mha_causal_off_t", ARGUMENT, |c| {
        c.mha_causal_off_t(&t(c, &[1, 6]), &t(c, &[4, 4]), &t(c, &[4, 4]), 1, 3, 2, 2, 2)
    }),
    ("attention_t", SHAPE, |c| c.attention_t(&t(c, &[2, 4]), &t(c, &[3, 4]), &t(c, &[3, 5]), 2, 3, 4, 4, 0.5)),
    ("attention_t", SHAPE, |c| c.attention_t(&t(c, &[2, 4]), &t(c, &[3, 5]), &t(c, &[3, 5]), 2, 3, 4, 5, 0.5)),
    ("attention_t", SHAPE, |c| c.attention_t(&t(c, &[2, 4]), &t(c, &[3, 4]), &t(c, &[2, 5]), 2, 3, 4, 5, 0.5)),
    ("attention_t", ARGUMENT, |c| c.attention_t(&t(c, &[2, 0]), &t(c, &[3, 0]), &t(c, &[3, 5]), 2, 3, 0, 5, 0.5)),
    // Sizes whose products do not fit 32 bits.
    ("mm", SHAPE, |c| c.mm(&t(c, &[2]), &t(c, &[2]), HUGE, HUGE, HUGE)),
    ("mm", SHAPE, |c| c.mm(&t(c, &[1]), &t(c, &[1]), 65_536, 65_536, 65_536)),
    ("mm_bt", SHAPE, |c| c.mm_bt(&t(c, &[2]), &t(c, &[2]), HUGE, HUGE, HUGE, 1.0)),
    ("transpose2d_t", LIMIT, |c| c.transpose2d_t(&t(c, &[1]), HUGE, HUGE)),
    ("softmax_t", LIMIT, |c| c.softmax_t(&t(c, &[1]), HUGE, HUGE)),
    ("rmsnorm_t", SHAPE, |c| c.rmsnorm_t(&t(c, &[1]), &t(c, &[1]), HUGE, HUGE, 1e-5)),
    ("layernorm_t", SHAPE, |c| c.layernorm_t(&t(c, &[1]), &t(c, &[1]), &t(c, &[1]), HUGE, HUGE, 1e-5)),
    ("add_rmsnorm_t", SHAPE, |c| c.add_rmsnorm_t(&t(c, &[1]), &t(c, &[1]), &t(c, &[1]), HUGE, HUGE, 1e-5).0),
    ("rope_t", LIMIT, |c| c.rope_t(&t(c, &[2]), HUGE, HUGE, HUGE - 1, 1e4)),
    ("rope_t", LIMIT, |c| c.rope_t(&t(c, &[4]), 1 << 16, 1 << 16, 4, 1e4)),
    ("mha_decode_t", LIMIT, |c| c.mha_decode_t(&t(c, &[1]), &t(c, &[1]), &t(c, &[1]), HUGE, HUGE, HUGE, HUGE)),
    ("mha_causal_t", LIMIT, |c| c.mha_causal_t(&t(c, &[1]), &t(c, &[1]), &t(c, &[1]), HUGE, HUGE, HUGE, HUGE)),
    ("mha_causal_off_t", ARGUMENT, |c| {
        c.mha_causal_off_t(&t(c, &[1, 2]), &t(c, &[1, 2]), &t(c, &[1, 2]), 1, 1, 1, 2, HUGE)
    }),
    ("attention_t", LIMIT, |c| c.attention_t(&t(c, &[1]), &t(c, &[1]), &t(c, &[1]), HUGE, HUGE, HUGE, HUGE, 1.0)),
    ("mha_decode_t", SHAPE, |c| c.mha_decode_t(&t(c, &[0]), &t(c, &[0]), &t(c, &[0]), 0, HUGE, HUGE, HUGE)),
    ("mha_causal_off_t", SHAPE, |c| c.mha_causal_off_t(&t(c, &[0]), &t(c, &[0]), &t(c, &[0]), 0, 0, HUGE, HUGE, HUGE)),
    // More than any adapter holds.
    ("empty", LIMIT, |c| c.empty(&[usize::MAX, 2])),
    ("empty", LIMIT, |c| c.empty(&[1 << 20, 1 << 11])),
    ("kv_cache", LIMIT, |c| c.kv_cache_as(1 << 20, 1 << 12, Dtype::F16).k()),
    ("mm", LIMIT, |c| c.mm(&t(c, &[100_000, 1]), &t(c, &[1, 100_000]), 100_000, 1, 100_000)),
];

gpu_test! {
    async fn each_misuse_is_an_error(ctx) {
        let good = ctx.tensor(&[1.0, 2.0], &[2]);
        let (mut wrong, mut sums) = (Vec::new(), Vec::new());
        for (i, (op, code, misuse)) in MISUSES.iter().enumerate() {
            let failed = misuse(ctx);
            let Some(error) = failed.error() else {
                wrong.push(format!("row {i}, {op}: no error, but shape {:?}", failed.shape()));
                continue;
            };
            let text = error.to_string();
            if (error.op(), error.code()) != (*op, *code) || !text.contains(op) {
                wrong.push(format!("row {i}, {op}: want {code}, got {} [{}] {text}", error.op(), error.code()));
            }
            #[cfg(not(target_arch = "wasm32"))]
            if !text.contains(file!()) {
                wrong.push(format!("row {i}, {op}: no line of the caller in: {text}"));
            }
            let read = ctx.to_vec(&failed).await.expect_err("no values");
            assert_eq!((read.op(), read.code()), (error.op(), error.code()));
            sums.push(ctx.add_t(&good, &good));
        }
        for sum in read_all(ctx, &sums).await {
            assert_eq!(sum, [2.0, 4.0], "the context works on");
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

gpu_test! {
    /// No op broadcasts one of two equal inputs: one element more, one less, none, one alone and one row are errors.
    async fn lengths_that_differ_are_an_error(ctx) {
        let mut calls = 0;
        for op in table().into_iter().filter(|op| op.inputs == [WIDE; 2]) {
            let good = input(ctx, WIDE, |n| vec![1.0; n]);
            for n in [good.len() + 1, good.len() - 1, good.len() - 7, 0, 1, 7] {
                let other = t(ctx, &[n]);
                for tensors in [[&good, &other], [&other, &good]] {
                    for y in op.run(ctx, &tensors) {
                        let error = y.error().unwrap_or_else(|| panic!("{} takes {n} elements for {}", op.name, good.len()));
                        assert_eq!((error.op(), error.code()), (op.name, SHAPE));
                    }
                    calls += 1;
                }
            }
        }
        assert!(calls > 0);
        println!("{calls} calls");
    }
}

gpu_test! {
    /// A shape with a 0 has no elements, also where the product of its other sizes is more than a usize.
    async fn nothing_times_anything_is_nothing(ctx) {
        for shape in [[usize::MAX, usize::MAX, 0], [0, usize::MAX, 2], [usize::MAX, 0, usize::MAX]] {
            let x = ctx.relu_t(&ctx.dup(&ctx.empty(&shape), vec![usize::MAX, 2, 0]));
            assert!(x.error().is_none(), "{x:?}");
            assert_eq!((x.len(), x.is_empty(), ctx.tensor(&[], &shape).len()), (0, true, 0));
            assert!(ctx.to_vec(&x).await.expect("a read").is_empty());
        }
    }
}

gpu_test! {
    /// An error passes through every op unchanged, whichever argument carries it.
    async fn errors_are_handed_on(ctx) {
        let bad = ctx.mm(&t(ctx, &[2, 3]), &t(ctx, &[4, 5]), 2, 3, 5);
        let ok = t(ctx, &[1]);
        let mut further = vec![
            ("to_dtype", ctx.to_dtype(&bad, Dtype::F16)),
            ("mm", ctx.mm(&bad, &half(ctx, &[1]), 1, 1, 1)),
            ("mm", ctx.mm(&half(ctx, &[1]), &bad, 1, 1, 1)),
        ];
        for op in table() {
            let good: Vec<Tensor> = op.inputs.iter().map(|&shape| input(ctx, shape, |n| vec![1.0; n])).collect();
            // In each place for itself, then in all.
            for only in (0..good.len()).map(Some).chain([None]) {
                let place = |(i, t)| if only.is_none_or(|only| only == i) { &bad } else { t };
                let tensors: Vec<&Tensor> = good.iter().enumerate().map(place).collect();
                further.extend(op.run(ctx, &tensors).into_iter().map(|y| (op.name, y)));
            }
        }
        for (op, t) in &further {
            assert_eq!(t.error(), bad.error(), "{op}");
            assert_eq!(ctx.to_vec(t).await.err().as_ref(), bad.error(), "{op}");
        }
        println!("{} results", further.len());
        let mut cache = ctx.kv_cache(2, 1);
        let error = cache.append(&bad, &ok).expect_err("a failed tensor");
        assert_eq!((error.op(), cache.len()), ("mm", 0));
        let error = cache.append_rope(&ok, &bad, 1, 1e4).expect_err("a failed tensor");
        assert_eq!((error.op(), cache.len()), ("mm", 0));
        // The sound argument is as good as before.
        assert_eq!(ctx.to_vec(&ok).await.expect("a read"), [0.0]);
    }
}

gpu_test! {
    /// Two shapes that do not fit are both in the text.
    async fn the_message_names_the_shapes(ctx) {
        let bad = ctx.add_t(&t(ctx, &[2, 3]), &t(ctx, &[4, 5]));
        let text = bad.error().expect("an error").to_string();
        assert!(text.contains("2, 3") && text.contains("4, 5"), "{text}");
        let bad = ctx.mm(&t(ctx, &[2, 3]), &t(ctx, &[4, 5]), 2, 3, 5);
        let text = bad.error().expect("an error").to_string();
        assert!(["2", "3", "4", "5"].iter().all(|n| text.contains(n)), "{text}");
        let bad = ctx.gather0(&t(ctx, &[4, 3]), &[0, 77], 3);
        let text = bad.error().expect("an error").to_string();
        assert!(text.contains("77") && text.contains('4'), "{text}");
        // So is the one that asks for too much.
        let shapes = [vec![65_536, 65_536], vec![1 << 20, 1 << 11], vec![usize::MAX, 2]];
        for shape in shapes {
            let text = ctx.empty(&shape).error().expect("an error").to_string();
            assert!(text.contains(&format!("{shape:?} wanted, at most")), "{text}");
        }
    }
}

gpu_test! {
    async fn tensors_of_two_contexts_do_not_mix(ctx) {
        let other = crate::own().await;
        let (mine, theirs) = (t(ctx, &[1, 1]), t(&other, &[1, 1]));
        let mut mixed = vec![("to_dtype", ctx.to_dtype(&theirs, Dtype::F16))];
        for op in table() {
            let make = |ctx: &Context| -> Vec<Tensor> {
                op.inputs.iter().map(|&shape| input(ctx, shape, |n| vec![1.0; n])).collect()
            };
            let (good, strange) = (make(ctx), make(&other));
            for (i, strange) in strange.iter().enumerate() {
                for strange in [strange, &other.to_dtype(strange, Dtype::F16)] {
                    let mut tensors: Vec<&Tensor> = good.iter().collect();
                    tensors[i] = strange;
                    mixed.extend(op.run(ctx, &tensors).into_iter().map(|y| (op.name, y)));
                }
            }
        }
        for (op, t) in &mixed {
            let error = t.error().unwrap_or_else(|| panic!("{op} mixes contexts"));
            assert_eq!((error.op(), error.code()), (*op, "wrong-context"));
        }
        println!("{} results", mixed.len());
        assert_eq!(ctx.to_vec(&theirs).await.expect_err("not ours").code(), "wrong-context");
        let mut cache = ctx.kv_cache(2, 1);
        assert_eq!(cache.append(&mine, &theirs).expect_err("not ours").code(), "wrong-context");
        assert_eq!(cache.len(), 0);
        assert_eq!(read_all(&other, &[other.add_t(&theirs, &theirs)]).await, [[0.0]]);
        assert_eq!(read_all(ctx, &[ctx.add_t(&mine, &mine)]).await, [[0.0]]);
    }
}

gpu_test! {
    /// Beyond capacity nothing is written, neither keys nor values nor the length.
    async fn a_full_cache_refuses(ctx) {
        let mut cache = ctx.kv_cache(4, 2);
        assert_eq!((cache.len(), cache.capacity()), (0, 4));
        for i in 0..4 {
            let row = ctx.tensor(&[i as f32, 10.0 + i as f32], &[1, 2]);
            cache.append(&row, &ctx.add_t(&row, &row)).expect("room");
        }
        let before = read_all(ctx, &[cache.k(), cache.v()]).await;
        assert_eq!(before[0], [0.0, 10.0, 1.0, 11.0, 2.0, 12.0, 3.0, 13.0]);
        let more = ctx.tensor(&[-1.0, -2.0], &[1, 2]);
        let error = cache.append(&more, &more).expect_err("full");
        assert_eq!(error.code(), "index-out-of-range");
        assert_eq!((cache.len(), read_all(ctx, &[cache.k(), cache.v()]).await), (4, before.clone()));
        let error = cache.append_rope(&more, &more, 1, 1e4).expect_err("full");
        assert_eq!((error.op(), error.code()), ("append_rope", INDEX));
        assert_eq!((cache.len(), read_all(ctx, &[cache.k(), cache.v()]).await), (4, before));

        cache.truncate(3);
        for (heads, base) in [(0, 1e4), (2, 1e4), (3, 1e4), (HUGE, 1e4), (1, 0.0), (1, f32::NAN)] {
            let error = cache.append_rope(&more, &more, heads, base).expect_err("no such heads, or no such base");
            assert_eq!((error.op(), error.code(), cache.len()), ("append_rope", ARGUMENT, 3), "{heads} heads, base {base}");
        }
        let two = ctx.tensor(&[-1.0, -2.0, -3.0, -4.0], &[2, 2]);
        assert!(cache.append(&two, &two).is_err(), "one row of two fits");
        assert_eq!(cache.len(), 3);
        cache.append(&more, &more).expect("room again");
        assert_eq!(read_all(ctx, &[cache.k()]).await[0], [0.0, 10.0, 1.0, 11.0, 2.0, 12.0, -1.0, -2.0]);

        let narrow = ctx.tensor(&[1.0], &[1, 1]);
        cache.truncate(0);
        assert_eq!(cache.append(&narrow, &narrow).expect_err("too narrow").code(), SHAPE);
        assert_eq!(cache.append(&two, &more).expect_err("fewer values").code(), SHAPE);
        assert_eq!(cache.append_rope(&two, &more, 1, 1e4).expect_err("fewer values").code(), SHAPE);
        assert_eq!(cache.len(), 0);
        cache.truncate(9);
        assert_eq!(cache.len(), 0, "truncate never grows");
        cache.append(&ctx.empty(&[0, 2]), &ctx.empty(&[0, 2])).expect("no rows");
        cache.append_rope(&ctx.empty(&[0, 2]), &ctx.empty(&[0, 2]), 1, 1e4).expect("no rows");
        assert_eq!(cache.len(), 0);
    }
}

gpu_test! {
    async fn host_array_ops_check_their_arrays(ctx) {
        let x = [1.0; 6];
        let results = [
            ctx.matmul(&x, &x, 2, 3, 3).await,
            ctx.matmul_bt(&x, &x, 2, 3, 3, 1.0).await,
            ctx.add(&x, &x[..5]).await,
            ctx.softmax(&x, 2, 2).await,
            ctx.layernorm(&x, &x[..3], &x[..2], 2, 3, 1e-5).await,
            ctx.attention(&x, &x, &x[..4], 2, 2, 3, 3, 1.0).await,
            ctx.matmul(&x, &x, u32::MAX, u32::MAX, u32::MAX).await,
        ];
        for (i, result) in results.into_iter().enumerate() {
            assert_eq!(result.expect_err("misuse").code(), SHAPE, "call {i}");
        }
        assert!(ctx.silu(&[]).await.expect("nothing").is_empty());
        assert_eq!(ctx.add(&x, &x).await.expect("a sum"), [2.0; 6]);
    }
}
