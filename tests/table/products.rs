//! The two matrix products.

use tensorweft::{Context, Dtype};

use super::{Cases, MANY, Op, SIZES, both, f32s, many_groups, mark, stored};
use crate::check::{Case, Rng, bound};
use crate::reference;

/// a [m,k] · b [k,n] -> [m,n]
pub(super) fn mm() -> Op {
    Op::new([[5, 7], [7, 5]], |c, [a, b], [[m, k], [_, n]]| vec![c.mm(a, b, m, k, n)]).cases(
        mm_case,
        Cases {
            rows: both(products()),
            small: f32s([(33, 70, 65), (1, 300, 65), (20, 64, 128)]),
            reach: f32s(EACH_KERNEL),
            f16: EACH_KERNEL.map(|shape| (shape, Dtype::F16)).to_vec(),
        },
    )
}

/// m, k, n, and how b is stored
fn mm_case(ctx: &Context, ((m, k, n), dtype): ((usize, usize, usize), Dtype)) -> Case {
    let label = format!("m {m} k {k} n {n}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (a, mut b) = (rng.unit(m * k), rng.unit(k * n));
    let tb = stored(ctx, dtype, &mut b, &[k, n]);
    Case {
        got: ctx.mm(&ctx.tensor(&a, &[m, k]), &tb, m as u32, k as u32, n as u32),
        shape: vec![m, n],
        want: reference::mm(&a, &b, m, k, n),
        bound: bound::mm(&a, &b, m, k, n),
        label,
    }
}

/// scale · a [m,k] · b [n,k]ᵀ -> [m,n]
pub(super) fn mm_bt() -> Op {
    let scales = [1.0, 0.125, -3.7];
    let mut shapes = products();
    shapes.push((1, 4, 4 * 65_535 + 1));
    Op::new([[5, 7], [5, 7]], |c, [a, b], [[m, k], [n, _]]| vec![c.mm_bt(a, b, m, n, k, 0.5)]).cases(
        mm_bt_case,
        Cases {
            rows: both(shapes)
                .into_iter()
                .enumerate()
                .map(|(i, (shape, dtype))| (shape, scales[i % 3], dtype))
                .collect(),
            small: vec![
                ((33, 70, 65), 1.0, Dtype::F32),
                ((33, 70, 65), 0.125, Dtype::F32),
                ((1, 300, 65), 1.0, Dtype::F32),
                ((128, 64, 128), -2.0, Dtype::F32),
            ],
            reach: EACH_KERNEL.map(|shape| (shape, 0.7, Dtype::F32)).to_vec(),
            f16: EACH_KERNEL.map(|shape| (shape, 0.7, Dtype::F16)).to_vec(),
        },
    )
}

/// m, k, n, the scale, and how b is stored
fn mm_bt_case(ctx: &Context, ((m, k, n), scale, dtype): ((usize, usize, usize), f32, Dtype)) -> Case {
    let label = format!("m {m} n {n} k {k} scale {scale}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (a, mut b) = (rng.unit(m * k), rng.unit(n * k));
    let tb = stored(ctx, dtype, &mut b, &[n, k]);
    Case {
        got: ctx.mm_bt(&ctx.tensor(&a, &[m, k]), &tb, m as u32, n as u32, k as u32, scale),
        shape: vec![m, n],
        want: reference::mm_bt(&a, &b, m, n, k, scale),
        bound: bound::mm_bt(&a, &b, m, n, k, scale),
        label,
    }
}

/// m, k, n: cubes, each letter alone, few rows or columns (1..9 and just above), long sums, many rows.
fn products() -> Vec<(usize, usize, usize)> {
    let mut shapes = Vec::new();
    for s in SIZES {
        shapes.extend([(s, s, s), (s, 33, 17), (17, s, 33), (33, 17, s), (2, s, 130), (130, s, 2)]);
    }
    for few in 1..=34 {
        shapes.extend([(few, 256, 132), (few, 257, 131), (132, 256, few), (131, 257, few), (few, few, few)]);
    }
    for k in [1000, 1024, 4095, 4096, 16_384] {
        shapes.extend([(1, k, 1), (1, k, 65), (3, k, 5), (17, k, 9), (40, k, 36), (5, k, 3)]);
    }
    shapes.extend([(300, 520, 400), (65, 256, 1029), (1029, 256, 65), (MANY, 8, 4), (3, 8, 20_001)]);
    for k in [1, 2, 7, 8, 9, 127, 129, 511, 513] {
        shapes.extend([(1, k, 300), (8, k, 513), (300, k, 1), (513, k, 8), (2, k, 3), (9, k, 70), (70, k, 9)]);
    }
    shapes.extend([(3, 300, 8200), (8200, 300, 3), (1, 300, 8193), (8193, 300, 1), (2, MANY, 2)]);
    shapes.extend([(MANY, 1, 1), (1, 1, 4097), (0, 5, 7), (5, 0, 7), (5, 7, 0)]);
    shapes.extend(many_groups((1, 9, 32 * 65_535 + 1)));
    shapes
}

/// m, k, n: tiles of every size, with k whole, in parts and none; one row and few, one column and few, over k of every kind.
const EACH_KERNEL: [(usize, usize, usize); 25] = [
    (1800, 33, 1900),
    (65, 2049, 1925),
    (700, 40, 1000),
    (33, 20, 10_241),
    (20, 30, 6401),
    (40, 1030, 36),
    (70, 5, 90),
    (2, 0, 2),
    (8, 700, 3001),
    (5, 1025, 9),
    (1, 1025, 9),
    (8, 701, 3000),
    (1, 700, 36),
    (3, 4, 300),
    (1, 4, 300),
    (3, 70, 300),
    (1, 70, 300),
    (1, 520, 8201),
    (300, 700, 3),
    (300, 700, 1),
    (300, 70, 3),
    (300, 70, 1),
    (300, 4, 3),
    (300, 4, 1),
    (8201, 520, 1),
];
