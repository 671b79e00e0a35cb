//! f16 storage: which values it holds, that no op minds it, and half the memory.

use std::collections::BTreeSet;

use tensorweft::{Dtype, Tensor, kernels_of};

use crate::check::{Rng, bits, bound, close, read_all};
use crate::reference::{half, widen};
use crate::table::{find, input, table};

const F16: Dtype = Dtype::F16;
const F32: Dtype = Dtype::F32;

/// The value of a half, by the definition of the format.
fn value(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023) / 1024.0);
    let size = match exponent {
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        0 => fraction * 2f32.powi(-14),
        _ => (1.0 + fraction) * 2f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Bits, the same for every NaN.
fn plain(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { f32::NAN } else { *x }.to_bits()).collect()
}

gpu_test! {
    /// All 65,536, subnormals, infinities and NaN among them: read, converted to f32, and converted back.
    async fn every_half_is_exact(ctx) {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let want: Vec<f32> = all.iter().map(|bits| value(*bits)).collect();
        let t = ctx.tensor_f16_bits(&all, &[256, 256]);
        let wide = ctx.to_dtype(&t, F32);
        let again = ctx.to_dtype(&wide, F16);
        assert_eq!([t.dtype(), wide.dtype(), again.dtype()], [F16, F32, F16]);
        for got in read_all(ctx, &[t, wide, again]).await {
            assert_eq!(plain(&got), plain(&want));
        }
    }
}

gpu_test! {
    /// Each half, the middle between it and the next, and the floats just below and above that middle.
    async fn rounding_is_to_nearest_ties_to_even(ctx) {
        let mut x = Vec::new();
        for bits in 0..0x7c00u16 {
            // A middle has one bit more than a half, so an f32 holds it exactly.
            let next = if bits == 0x7bff { 65_536.0 } else { value(bits + 1) };
            let middle = (value(bits) + next) / 2.0;
            for at in [value(bits), middle.next_down(), middle, middle.next_up()] {
                x.extend([at, -at]);
            }
        }
        x.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-40, -1e-40, f32::MIN_POSITIVE, 0.0, -0.0]);
        let want: Vec<f32> = x.iter().map(|x| half(*x)).collect();
        let got = ctx.to_vec(&ctx.tensor_f16(&x, &[x.len()])).await.expect("a read");
        let wrong: Vec<_> = (0..x.len()).filter(|i| plain(&got[*i..=*i]) != plain(&want[*i..=*i])).collect();
        assert!(wrong.is_empty(), "{} wrong, {:e} is {:e}, want {:e}", wrong.len(), x[wrong[0]], got[wrong[0]], want[wrong[0]]);

        let literal = [65_504.0, 65_519.99, 65_520.0, -1e9, 2f32.powi(-24), 2f32.powi(-25), 2.1f32.powi(-24), 0.1, 2049.0, 2051.0, f32::NAN];
        let want = [65_504.0, 65_504.0, f32::INFINITY, f32::NEG_INFINITY, 2f32.powi(-24), 0.0, 0.0, 0.099_975_586, 2048.0, 2052.0, f32::NAN];
        let got = ctx.to_vec(&ctx.tensor_f16(&literal, &[11])).await.expect("a read");
        assert_eq!(plain(&got), plain(&want));
    }
}

gpu_test! {
    /// Lengths that fill no whole word or vector, in recycled buffers that hold NaN.
    async fn any_length_works(ctx) {
        for n in (0..20).chain([255, 256, 257, 1023, 1025, 4097, 70_001, 262_145]) {
            let x = Rng::new("lengths").values(n, -9.0, 9.0);
            let want: Vec<f32> = x.iter().map(|x| half(*x)).collect();
            drop(ctx.tensor(&vec![f32::NAN; n], &[n]));
            let t = ctx.tensor_f16(&x, &[n]);
            let raw: Vec<u16> = (0..n).map(|i| (i * 7 % 31_744) as u16).collect();
            let raw_want: Vec<f32> = raw.iter().map(|bits| value(*bits)).collect();
            let got = read_all(ctx, &[t.clone(), ctx.to_dtype(&t, F32), ctx.tensor_f16_bits(&raw, &[n]), ctx.scale_t(&t, 2.0)]).await;
            let twice: Vec<f32> = want.iter().map(|x| 2.0 * x).collect();
            assert_eq!(got, [want.clone(), want, raw_want, twice], "{n}");
        }
    }
}

gpu_test! {
    /// Whatever input is stored as f16, the result is that of the same values in f32, and is f32.
    async fn no_op_minds_f16(ctx) {
        let kernels: BTreeSet<String> = tensorweft::kernels().into_iter().map(|kernel| kernel.name).collect();
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for op in table() {
            let name = op.name;
            let mut rng = Rng::new(name);
            // All values are positive, so that nothing cancels.
            let wide: Vec<Tensor> = op.inputs.iter()
                .map(|&shape| input(ctx, shape, |n| rng.unit(n).into_iter().map(|x| half(x.abs() + 0.1)).collect()))
                .collect();
            let halves: Vec<Tensor> = wide.iter().map(|x| ctx.to_dtype(x, F16)).collect();
            let want = op.run(ctx, &wide.iter().collect::<Vec<_>>());
            // In a pipeline of its own for f16 a driver may fuse otherwise, unless the op computes nothing.
            let rounds = find(name).small().into_iter().any(|row| (row.case)(ctx).bound.iter().any(|bound| *bound > 0.0));
            let apart = rounds && kernels_of(name).iter().any(|kernel| kernels.contains(&format!("{kernel}_F16")));
            // Each input for itself, then all.
            for only in (0..wide.len()).map(Some).chain([None]) {
                let place = |i| if only.is_none_or(|only| only == i) { &halves[i] } else { &wide[i] };
                let got = op.run(ctx, &(0..wide.len()).map(place).collect::<Vec<_>>());
                for (got, want) in got.into_iter().zip(&want) {
                    // A new shape is the same buffer.
                    assert_eq!(got.dtype(), if name == "dup" { F16 } else { F32 }, "{name}");
                    assert_eq!(got.shape(), want.shape(), "{name}");
                    let call = only.map_or(format!("{name}, all as f16"), |i| format!("{name}, input {i} as f16"));
                    calls.push((call, apart));
                    results.extend([got, want.clone()]);
                }
            }
        }
        for ((call, apart), pair) in calls.iter().zip(read_all(ctx, &results).await.chunks(2)) {
            let (got, want) = (&pair[0], &pair[1]);
            if *apart {
                let want = widen(want);
                close(got, &want, &bound::elementwise(&want)).unwrap_or_else(|text| panic!("{call}: {text}"));
            } else {
                assert_eq!(bits(got), bits(want), "{call}");
            }
        }
        println!("{} results", calls.len());
    }
}

gpu_test! {
    async fn the_dtype_follows_one_rule() {
        let ctx = crate::own().await;
        let x = ctx.tensor_f16(&[1.0, 2.0, 3.0], &[3]);
        assert_eq!((ctx.tensor(&[1.0], &[1]).dtype(), ctx.empty(&[2]).dtype()), (F32, F32));
        // A new shape is the same buffer, and so is f16 converted to f16.
        let before = ctx.stats();
        let same = ctx.to_dtype(&ctx.dup(&x, vec![3, 1]), F16);
        assert_eq!((same.dtype(), same.shape()), (F16, &[3, 1][..]));
        assert_eq!(ctx.stats(), before);
        let y = ctx.add_t(&x, &same);
        assert_eq!((y.dtype(), ctx.to_dtype(&y, F16).dtype()), (F32, F16));
        assert_eq!(format!("{x:?}"), "Tensor[3] as f16");
        // Without elements too.
        let none = ctx.tensor_f16(&[], &[0, 4]);
        assert_eq!((none.dtype(), ctx.to_dtype(&none, F32).dtype(), ctx.tensor_f16_bits(&[], &[0]).dtype()), (F16, F32, F16));
        assert_eq!(ctx.relu_t(&none).shape(), [0, 4]);
        let got = read_all(&ctx, &[none.clone(), y, ctx.mm(&none, &ctx.tensor_f16(&[1.0; 4], &[4, 1]), 0, 4, 1)]).await;
        assert_eq!(got, [vec![], vec![2.0, 4.0, 6.0], vec![]]);
    }
}

gpu_test! {
    /// Ops that read f16 themselves make no f32 copy of it.
    async fn half_the_bytes() {
        let ctx = crate::own().await;
        const N: usize = 1 << 20;
        let wide = ctx.empty(&[1024, 1024]);
        assert_eq!(ctx.memory().live_bytes, 4 * N as u64);
        let x = ctx.to_dtype(&wide, F16);
        drop(wide);
        assert_eq!(ctx.memory().live_bytes, 2 * N as u64);
        let before = ctx.memory().peak_bytes;
        let row = ctx.tensor(&[1.0; 1024], &[1, 1024]);
        let results = [
            ctx.mm(&row, &x, 1, 1024, 1024),
            ctx.mm_bt(&row, &x, 1, 1024, 1024, 1.0),
            ctx.gather0(&x, &[3], 1024),
            ctx.mha_decode_t(&row, &x, &x, 16, 16, 64, 1024),
            ctx.mha_causal_off_t(&row, &x, &x, 1, 16, 16, 64, 1023),
            ctx.attention_t(&row, &x, &x, 1, 1024, 1024, 1024, 1.0),
        ];
        let memory = ctx.memory();
        assert_eq!(memory.peak_bytes, before, "an f32 copy of the operand was made");
        assert!(memory.live_bytes < 3 * N as u64, "{memory:?}");
        for got in read_all(&ctx, &results).await {
            assert_eq!(got, [0.0; 1024]);
        }
    }
}

gpu_test! {
    /// Rows of odd width share words with those beside them, which each append must leave alone.
    async fn a_cache_of_halves(ctx) {
        for (width, dtype) in [(1, F16), (3, F16), (4, F16), (5, F32), (7, F16), (129, F16)] {
            let capacity = 9;
            let mut cache = ctx.kv_cache_as(capacity, width, dtype);
            assert_eq!((cache.k().dtype(), cache.v().dtype()), (dtype, dtype));
            let mut rng = Rng::new("a cache of halves");
            let (mut k, mut v) = (vec![0.0; capacity * width], vec![0.0; capacity * width]);
            let kept = |x: &f32| if dtype == F16 { half(*x) } else { *x };
            // Goes back to `at` rows and appends so many, which are stored as either dtype.
            for (at, rows, stored) in [(0, 1, F32), (1, 2, F16), (3, 0, F16), (3, 3, F32), (6, 1, F16), (2, 1, F32), (3, 5, F32), (8, 1, F16)] {
                cache.truncate(at);
                let [new_k, new_v] = [0, 1].map(|_| rng.unit(rows * width).iter().map(|x| if stored == F16 { half(*x) } else { *x }).collect::<Vec<f32>>());
                let upload = |x: &[f32]| ctx.to_dtype(&ctx.tensor(x, &[rows, width]), stored);
                cache.append(&upload(&new_k), &upload(&new_v)).expect("room");
                for (all, new) in [(&mut k, &new_k), (&mut v, &new_v)] {
                    all.splice(at * width..(at + rows) * width, new.iter().map(kept));
                }
                assert_eq!(read_all(ctx, &[cache.k(), cache.v()]).await, [k.clone(), v.clone()], "width {width}, rows {rows} at {at}");
            }
            // Its own rows, read from the buffers that are written.
            cache.truncate(0);
            cache.append(&cache.v(), &cache.k()).expect("room");
            assert_eq!(read_all(ctx, &[cache.k(), cache.v()]).await, [v, k], "width {width}, swapped");
            assert!(cache.append(&ctx.tensor_f16(&vec![0.0; width], &[1, width]), &ctx.empty(&[1, width])).is_err(), "full");
        }
    }
}

gpu_test! {
    /// Keys are turned in f32 and then stored as halves.
    async fn a_cache_of_halves_takes_turned_keys(ctx) {
        let mut rng = Rng::new("turned halves");
        for dh in [6, 8] {
            let mut rows = || ctx.tensor(&rng.unit(3 * 2 * dh), &[3, 2 * dh]);
            let (k, v) = (rows(), rows());
            let mut cache = ctx.kv_cache_as(3, 2 * dh, F16);
            cache.append_rope(&k, &v, 2, 1e4).expect("room");
            let turned = ctx.to_dtype(&ctx.rope_t(&k, 3, 2, dh as u32, 1e4), F16);
            let got = read_all(ctx, &[cache.k(), turned, cache.v(), ctx.to_dtype(&v, F16)]).await;
            assert_eq!(got[0], got[1], "k");
            assert_eq!(got[2], got[3], "v");
        }
    }
}
