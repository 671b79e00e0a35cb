//! Attention of heads in groups and of one head.

use tensorweft::{Context, Dtype};

use super::{Cases, MANY, Op, SIZES, both, f32s, many_groups, mark, stored};
use crate::check::{Case, Rng, bound};
use crate::reference::{self, Heads};

const HEAD_SIZES: [usize; 12] = [1, 2, 3, 5, 64, 80, 96, 120, 128, 192, 256, 257];

/// hq, hkv
const GROUPS: [(usize, usize); 7] = [(1, 1), (4, 2), (6, 2), (6, 3), (8, 1), (9, 3), (5, 5)];

const SMALL: Heads = Heads { hq: 4, hkv: 2, dh: 20 };

/// hkv and dh of a small call, by the widths of q and k: two heads of queries.
fn heads(q: u32, k: u32) -> (u32, u32) {
    let dh = q / 2;
    (k / dh.max(1), dh)
}

/// Few rows and more, one head of keys with few heads of queries and more, narrow and wide ones, and no key to many:
/// new rows, heads, keys.
fn each_kernel() -> Vec<(usize, Heads, usize)> {
    let mut cases = Vec::new();
    for t in [1, 2, 20] {
        for hq in [1, 4, 8] {
            for dh in [63, 64, 68, 130] {
                cases.extend([0, 1, 2, 150].map(|s| (t, Heads { hq, hkv: 1, dh }, s)));
            }
        }
    }
    cases
}

/// q [1, hq·dh], k and v [s + spare, hkv·dh] -> [1, hq·dh]
pub(super) fn mha_decode() -> Op {
    let mut rows: Vec<(Heads, usize, usize)> = Vec::new();
    for s in SIZES.into_iter().chain([1000, 1024, 1025, 4097]) {
        rows.extend([(Heads { hq: 4, hkv: 2, dh: 16 }, s, 0), (Heads { hq: 1, hkv: 1, dh: 64 }, s, 3)]);
    }
    for dh in HEAD_SIZES {
        rows.extend([(Heads { hq: 4, hkv: 2, dh }, 9, 0), (Heads { hq: 3, hkv: 3, dh }, 300, 1)]);
    }
    for (hq, hkv) in GROUPS {
        rows.extend([(Heads { hq, hkv, dh: 32 }, 77, 51), (Heads { hq, hkv, dh: 32 }, 1, 0)]);
    }
    rows.extend([
        (Heads { hq: 2, hkv: 1, dh: 8 }, MANY, 0),
        (Heads { hq: 9, hkv: 3, dh: 64 }, 2048, 6),
        (Heads { hq: 32, hkv: 8, dh: 64 }, 600, 0),
        (Heads { hq: 32, hkv: 8, dh: 128 }, 300, 0),
    ]);
    let mut reach: Vec<(Heads, usize, usize)> = Vec::new();
    // Keys whole and in parts.
    for hq in [1, 4, 7, 8, 9] {
        for dh in [64, 66, 128, 130, 260] {
            reach.extend([50, 1100].map(|s| (Heads { hq, hkv: 1, dh }, s, 2)));
        }
    }
    // The kernels that read f16 are those of all attention.
    let f16 = reach.iter().map(|&case| (case, Dtype::F16)).collect();
    reach.extend(each_kernel().into_iter().filter(|(t, ..)| *t == 1).map(|(_, heads, s)| (heads, s, 0)));
    Op::new([[1, 14], [5, 7], [5, 7]], |c, [q, k, v], [[_, width], [rows, k_width], _]| {
        let (hkv, dh) = heads(width, k_width);
        vec![c.mha_decode_t(q, k, v, 2, hkv, dh, rows.div_ceil(2))]
    })
    .cases(
        decode_case,
        Cases { rows: both(rows), small: f32s([(SMALL, 33, 7), (SMALL, 2000, 0)]), reach: f32s(reach), f16 },
    )
}

/// Heads, keys, rows beyond them, and how k and v are stored
fn decode_case(ctx: &Context, ((heads, s, spare), dtype): ((Heads, usize, usize), Dtype)) -> Case {
    let Heads { hq, hkv, dh } = heads;
    let label = format!("hq {hq} hkv {hkv} dh {dh} s {s} of {}{}", s + spare, mark(dtype));
    let mut rng = Rng::new(&label);
    let (width, rows) = (hkv * dh, s + spare);
    let (q, mut k, mut v) = (rng.values(hq * dh, -2.0, 2.0), rng.unit(rows * width), rng.unit(rows * width));
    let [tk, tv] = [&mut k, &mut v].map(|x| stored(ctx, dtype, x, &[rows, width]));
    let want = reference::mha_decode(&q, &k, &v, heads, s);
    Case {
        got: ctx.mha_decode_t(&ctx.tensor(&q, &[1, hq * dh]), &tk, &tv, hq as u32, hkv as u32, dh as u32, s as u32),
        shape: vec![1, hq * dh],
        bound: bound::attention(&want, &v[..s * width], 1e-5),
        want,
        label,
    }
}

/// q [t, hq·dh], k and v [t, hkv·dh] -> [t, hq·dh]
pub(super) fn mha_causal() -> Op {
    let mut rows: Vec<(usize, Heads)> = SIZES.iter().map(|&t| (t, Heads { hq: 2, hkv: 1, dh: 16 })).collect();
    rows.extend(SIZES.iter().map(|&t| (t, Heads { hq: 1, hkv: 1, dh: 40 })));
    for dh in HEAD_SIZES {
        rows.extend([(9, Heads { hq: 4, hkv: 2, dh }), (70, Heads { hq: 1, hkv: 1, dh })]);
    }
    rows.extend(GROUPS.map(|(hq, hkv)| (37, Heads { hq, hkv, dh: 8 })));
    rows.extend([(300, Heads { hq: 9, hkv: 3, dh: 64 }), (1025, Heads { hq: 1, hkv: 1, dh: 8 })]);
    rows.extend(many_groups((1, Heads { hq: 65_600, hkv: 65_600, dh: 1 })));
    // As many rows as keys.
    let reach = f32s(each_kernel().into_iter().filter(|(t, ..)| *t == 1).map(|(_, heads, s)| (s, heads)));
    Op::new([[5, 14], [5, 7], [5, 7]], |c, [q, k, v], [[t, width], [_, k_width], _]| {
        let (hkv, dh) = heads(width, k_width);
        vec![c.mha_causal_t(q, k, v, t, 2, hkv, dh)]
    })
    .cases(
        |ctx, ((t, heads), dtype)| causal_case(ctx, t, heads, None, dtype),
        Cases { rows: both(rows), small: f32s([(40, SMALL)]), reach, ..Cases::default() },
    )
}

/// The same over a cached prefix: k and v [offset + t, hkv·dh].
pub(super) fn mha_causal_off() -> Op {
    let mut rows: Vec<(usize, Heads, usize)> = Vec::new();
    for t in SIZES {
        rows.extend([0, 1, 63, 100].map(|offset| (t, Heads { hq: 2, hkv: 1, dh: 16 }, offset)));
    }
    for dh in HEAD_SIZES {
        rows.extend([(3, Heads { hq: 4, hkv: 2, dh }, 6), (33, Heads { hq: 1, hkv: 1, dh }, 64)]);
    }
    rows.extend(GROUPS.map(|(hq, hkv)| (5, Heads { hq, hkv, dh: 8 }, 41)));
    rows.extend([(2, Heads { hq: 1, hkv: 1, dh: 4 }, MANY), (65, Heads { hq: 9, hkv: 3, dh: 64 }, 700)]);
    let mut reach = f32s(each_kernel().into_iter().filter_map(|(t, heads, s)| Some((t, heads, s.checked_sub(t)?))));
    reach.push(((50, Heads { hq: 2, hkv: 2, dh: 128 }, 500), Dtype::F32));
    Op::new([[2, 14], [5, 7], [5, 7]], |c, [q, k, v], [[t, width], [s, k_width], _]| {
        let (hkv, dh) = heads(width, k_width);
        vec![c.mha_causal_off_t(q, k, v, t, 2, hkv, dh, s.saturating_sub(t))]
    })
    .cases(
        |ctx, ((t, heads, offset), dtype)| causal_case(ctx, t, heads, Some(offset), dtype),
        Cases { rows: both(rows), small: f32s([(40, SMALL, 25)]), reach, ..Cases::default() },
    )
}

/// `offset` None is the op without one; k and v are stored as `dtype`.
fn causal_case(ctx: &Context, t: usize, heads: Heads, offset: Option<usize>, dtype: Dtype) -> Case {
    let Heads { hq, hkv, dh } = heads;
    let label = format!("t {t} hq {hq} hkv {hkv} dh {dh} offset {offset:?}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (width, s) = (hkv * dh, t + offset.unwrap_or(0));
    let (q, mut k, mut v) = (rng.values(t * hq * dh, -2.0, 2.0), rng.unit(s * width), rng.unit(s * width));
    let tq = ctx.tensor(&q, &[t, hq * dh]);
    let [tk, tv] = [&mut k, &mut v].map(|x| stored(ctx, dtype, x, &[s, width]));
    let (t32, hq32, hkv32, dh32) = (t as u32, hq as u32, hkv as u32, dh as u32);
    let got = match offset {
        None => ctx.mha_causal_t(&tq, &tk, &tv, t32, hq32, hkv32, dh32),
        Some(offset) => ctx.mha_causal_off_t(&tq, &tk, &tv, t32, hq32, hkv32, dh32, offset as u32),
    };
    let want = reference::mha_causal(&q, &k, &v, t, heads, offset.unwrap_or(0));
    Case { got, shape: vec![t, hq * dh], bound: bound::attention(&want, &v, 1e-5), want, label }
}

/// q [rq,d], k [rk,d], v [rk,dv] -> [rq,dv]
pub(super) fn attention() -> Op {
    let scaled = |d: usize| 1.0 / (d as f32).sqrt();
    let mut rows: Vec<([usize; 4], f32)> = Vec::new();
    for s in SIZES {
        rows.extend([([s, 9, 16, 16], 0.25), ([9, s, 16, 16], 0.25), ([1, s, 8, 8], 0.5), ([s, s, 5, 7], 0.3)]);
        rows.extend([([7, 12, s.max(1), 6], 0.2), ([7, 12, 6, s], 0.2)]);
    }
    for d in HEAD_SIZES {
        rows.extend([[9, 9, d, d], [40, 70, d, d], [3, 9, d, 2 * d], [3, 9, 2 * d, d]].map(|sizes| (sizes, scaled(d))));
    }
    rows.extend([([1, MANY, 4, 4], 0.5), ([MANY, 3, 4, 4], 0.5)]);
    rows.extend([([2, 4097, 16, 8], 1.0), ([130, 200, 64, 64], -0.125)]);
    let mut reach =
        f32s(each_kernel().into_iter().map(|(t, Heads { hq, dh, .. }, s)| ([t * hq, s, dh, dh], scaled(dh))));
    reach.push((([3, 700, 64, 128], 0.2), Dtype::F32));
    Op::new([[5, 7], [6, 7], [6, 5]], |c, [q, k, v], [[rq, d], [rk, _], [_, dv]]| {
        vec![c.attention_t(q, k, v, rq, rk, d, dv, 0.3)]
    })
    .cases(
        attention_case,
        Cases { rows: both(rows), small: f32s([([20, 30, 16, 24], 0.25)]), reach, ..Cases::default() },
    )
}

/// rq, rk, d, dv, the scale, and how k and v are stored
fn attention_case(ctx: &Context, (([rq, rk, d, dv], scale), dtype): (([usize; 4], f32), Dtype)) -> Case {
    let label = format!("rq {rq} rk {rk} d {d} dv {dv} scale {scale}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (q, mut k, mut v) = (rng.values(rq * d, -2.0, 2.0), rng.unit(rk * d), rng.unit(rk * dv));
    let (tk, tv) = (stored(ctx, dtype, &mut k, &[rk, d]), stored(ctx, dtype, &mut v, &[rk, dv]));
    let want = reference::attention(&q, &k, &v, rq, rk, d, dv, scale);
    Case {
        got: ctx.attention_t(&ctx.tensor(&q, &[rq, d]), &tk, &tv, rq as u32, rk as u32, d as u32, dv as u32, scale),
        shape: vec![rq, dv],
        bound: bound::attention(&want, &v, 1e-5),
        want,
        label,
    }
}
