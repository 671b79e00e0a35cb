//! Ops that move or store values and compute nothing.

use tensorweft::{Context, Dtype};

use super::{Cases, MANY, Op, SIZES, both, f32s, many_groups, mark, matrices, stored};
use crate::check::{Case, Rng, bound};
use crate::reference;

/// The same values stored another way.
pub(super) fn to_dtype() -> Op {
    let lengths = SIZES.into_iter().chain([1023, 1025, 65_537, 262_145]);
    let ways = [(Dtype::F32, Dtype::F16), (Dtype::F16, Dtype::F32), (Dtype::F32, Dtype::F32), (Dtype::F16, Dtype::F16)];
    Op::new([[5, 7]], |c, [x], _| vec![c.to_dtype(x, Dtype::F32)]).cases(
        to_dtype_case,
        Cases {
            rows: lengths.flat_map(|n| ways.map(|way| (n, way))).collect(),
            small: vec![(301, ways[0]), (301, ways[1])],
            ..Cases::default()
        },
    )
}

fn to_dtype_case(ctx: &Context, (n, (from, to)): (usize, (Dtype, Dtype))) -> Case {
    let label = format!("{n} from {from:?} to {to:?}");
    let mut x = Rng::new(&label).values(n, -9.0, 9.0);
    let got = ctx.to_dtype(&stored(ctx, from, &mut x, &[n]), to);
    assert_eq!(got.dtype(), to, "{label}");
    let kept = |x: f32| if to == Dtype::F16 { reference::half(x) } else { x };
    let want: Vec<f64> = x.into_iter().map(|x| f64::from(kept(x))).collect();
    Case { got, shape: vec![n], bound: bound::exact(&want), want, label }
}

/// The same values under another shape.
pub(super) fn dup() -> Op {
    Op::new([[5, 7]], |c, [x], [[rows, cols]]| vec![c.dup(x, vec![cols as usize, rows as usize])]).cases(
        dup_case,
        Cases {
            rows: vec![
                (&[6], &[2, 3]),
                (&[2, 3], &[3, 2]),
                (&[2, 3, 4], &[24]),
                (&[1], &[1, 1, 1]),
                (&[0, 4], &[7, 0]),
                (&[257, 1], &[257]),
                (&[4, 5], &[4, 5]),
            ],
            small: vec![(&[30, 2], &[6, 10])],
            ..Cases::default()
        },
    )
}

fn dup_case(ctx: &Context, (from, to): (&'static [usize], &'static [usize])) -> Case {
    let label = format!("{from:?} to {to:?}");
    let x = Rng::new(&label).unit(from.iter().product());
    let want = reference::widen(&x);
    Case {
        got: ctx.dup(&ctx.tensor(&x, from), to.to_vec()),
        shape: to.to_vec(),
        bound: bound::exact(&want),
        want,
        label,
    }
}

/// data [rows,d], n ids -> [n,d]
pub(super) fn gather0() -> Op {
    let mut shapes: Vec<(usize, usize, usize)> = SIZES.iter().map(|&n| (19, 7, n)).collect();
    shapes.extend(SIZES.iter().map(|&d| (19, d, 5)));
    shapes.extend([
        (1, 1, 1),
        (1, 1, 9),
        // More than a workgroup's 2,048 values or 1,024 vectors, rows shorter and longer than its width.
        (19, 3, 2051),
        (19, 4, 1027),
        (19, 12, 700),
        (19, 1028, 9),
        (19, 1025, 9),
        (MANY, 8, MANY),
        (7, 8, MANY),
        (151_936, 4, 33),
        (3, 4097, 5),
        (2, 70_001, 3),
    ]);
    Op::new([[5, 7]], |c, [data], [[_, d]]| vec![c.gather0(data, &[4, 0, 1, 1], d as usize)]).cases(
        gather0_case,
        Cases {
            rows: both(shapes),
            small: f32s([(30, 20, 40), (30, 21, 40)]),
            reach: f32s([(2, 3, 0)]),
            f16: vec![((30, 20, 40), Dtype::F16), ((30, 21, 40), Dtype::F16)],
        },
    )
}

fn gather0_case(ctx: &Context, ((rows, d, n), dtype): ((usize, usize, usize), Dtype)) -> Case {
    let label = format!("rows {rows} d {d} ids {n}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let mut data = rng.unit(rows * d);
    let table = stored(ctx, dtype, &mut data, &[rows, d]);
    let mut idx: Vec<u32> = (0..n).map(|_| rng.below(rows) as u32).collect();
    if let [first, .., last] = idx.as_mut_slice() {
        (*first, *last) = (rows as u32 - 1, 0);
    }
    let want = reference::gather0(&data, &idx, d);
    Case { got: ctx.gather0(&table, &idx, d), shape: vec![n, d], bound: bound::exact(&want), want, label }
}

/// x [rows,cols] -> [cols,rows]
pub(super) fn transpose2d() -> Op {
    let shapes = matrices()
        .into_iter()
        .chain([(8, MANY), (1, MANY), (300, 520), (301, 523), (64, 68), (65, 68), (68, 132)])
        .chain([2, 5, 16, 31, 32].into_iter().flat_map(|thin| [(thin, 9000), (thin, 1343), (1345, thin), (9001, thin)]))
        .chain(many_groups((64 * 65_535 + 1, 1)));
    Op::new([[5, 7]], |c, [x], [[rows, cols]]| vec![c.transpose2d_t(x, rows, cols)]).cases(
        transpose2d_case,
        Cases { rows: shapes.collect(), small: vec![(33, 50), (3, 1400), (1400, 8), (36, 52)], ..Cases::default() },
    )
}

fn transpose2d_case(ctx: &Context, (rows, cols): (usize, usize)) -> Case {
    let label = format!("rows {rows} cols {cols}");
    let x = Rng::new(&label).unit(rows * cols);
    let want = reference::transpose2d(&x, rows, cols);
    Case {
        got: ctx.transpose2d_t(&ctx.tensor(&x, &[rows, cols]), rows as u32, cols as u32),
        shape: vec![cols, rows],
        bound: bound::exact(&want),
        want,
        label,
    }
}
