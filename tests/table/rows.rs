//! Ops that work row by row: softmax, the norms, and rotary embedding.

use tensorweft::{Context, Tensor};

use super::{Cases, MANY, Op, SIZES, many_groups, matrices};
use crate::check::{Case, Rng, bound};
use crate::reference;

/// Rows of a vocabulary's length and beyond.
const LONG: [(usize, usize); 9] = [
    (1, 50_257),
    (3, 50_257),
    (2, 65_537),
    (1, 151_936),
    (2, 151_936),
    (1, 262_145),
    // The last part full, and of one value or one vector.
    (5, 12_288),
    (5, 12_289),
    (5, 12_292),
];

/// Rows and columns for softmax and the norms.
fn long_matrices() -> impl Iterator<Item = (usize, usize)> {
    matrices().into_iter().chain(LONG).chain(many_groups((32 * 65_535 + 1, 2)))
}

/// Row lengths for each kernel, by single values and by vectors of four.
const EACH_KERNEL: [usize; 15] = [2, 7, 8, 30, 60, 99, 100, 500, 501, 2000, 3001, 4000, 8000, 9000, 9001];

const EPS: [f32; 3] = [1e-5, 1e-6, 0.1];

/// x [rows,d] -> [rows,d]
pub(super) fn softmax() -> Op {
    Op::new([[5, 7]], |c, [x], [[rows, d]]| vec![c.softmax_t(x, rows, d)]).cases(
        softmax_case,
        Cases {
            rows: long_matrices().collect(),
            small: vec![(20, 70), (1, 50_257)],
            reach: EACH_KERNEL.map(|d| (9, d)).to_vec(),
            ..Cases::default()
        },
    )
}

fn softmax_case(ctx: &Context, (rows, d): (usize, usize)) -> Case {
    let label = format!("rows {rows} d {d}");
    let x = Rng::new(&label).values(rows * d, -8.0, 8.0);
    let want = reference::softmax(&x, d);
    Case {
        got: ctx.softmax_t(&ctx.tensor(&x, &[rows, d]), rows as u32, d as u32),
        shape: vec![rows, d],
        bound: bound::rows(&want, d, 2e-6),
        want,
        label,
    }
}

/// Rows, columns and eps of a norm.
type Norm = (usize, usize, f32);

fn norms() -> Cases<Norm> {
    Cases {
        rows: long_matrices().enumerate().map(|(i, (rows, d))| (rows, d, EPS[i % 3])).collect(),
        small: vec![(20, 70, 1e-5), (20, 70, 1e-2)],
        reach: EACH_KERNEL.map(|d| (9, d, 1e-5)).to_vec(),
        ..Cases::default()
    }
}

/// x [rows,d], w [d] -> [rows,d]
pub(super) fn rmsnorm() -> Op {
    Op::new([[5, 7], [1, 7]], |c, [x, w], [[rows, d], _]| vec![c.rmsnorm_t(x, w, rows, d, 1e-5)])
        .cases(rmsnorm_case, norms())
}

fn rmsnorm_case(ctx: &Context, (rows, d, eps): Norm) -> Case {
    let label = format!("rows {rows} d {d} eps {eps}");
    let mut rng = Rng::new(&label);
    let (x, w) = (rng.values(rows * d, -3.0, 3.0), rng.unit(d));
    let want = reference::rmsnorm(&x, &w, eps);
    Case {
        got: ctx.rmsnorm_t(&ctx.tensor(&x, &[rows, d]), &ctx.tensor(&w, &[d]), rows as u32, d as u32, eps),
        shape: vec![rows, d],
        bound: bound::rows(&want, d, 2e-6),
        want,
        label,
    }
}

/// x [rows,d], w [d], b [d] -> [rows,d]
pub(super) fn layernorm() -> Op {
    Op::new([[5, 7], [1, 7], [1, 7]], |c, [x, w, b], [[rows, d], ..]| vec![c.layernorm_t(x, w, b, rows, d, 1e-5)])
        .cases(layernorm_case, norms())
}

fn layernorm_case(ctx: &Context, (rows, d, eps): Norm) -> Case {
    let label = format!("rows {rows} d {d} eps {eps}");
    let mut rng = Rng::new(&label);
    let (x, w, b) = (rng.values(rows * d, -2.0, 4.0), rng.unit(d), rng.unit(d));
    let want = reference::layernorm(&x, &w, &b, eps);
    let (tx, [tw, tb]) = (ctx.tensor(&x, &[rows, d]), [&w, &b].map(|row| ctx.tensor(row, &[d])));
    Case {
        got: ctx.layernorm_t(&tx, &tw, &tb, rows as u32, d as u32, eps),
        shape: vec![rows, d],
        bound: bound::rows(&want, d, 2e-6),
        want,
        label,
    }
}

/// The two results of a residual and its norm.
#[derive(Debug, Clone, Copy)]
enum Part {
    Sum,
    Normed,
}

fn add_norms() -> Cases<(Norm, Part)> {
    let shapes = matrices().into_iter().chain([(3, 50_257), (2, 65_536)]).chain(many_groups((32 * 65_535 + 1, 2)));
    let norms = shapes.enumerate().map(|(i, (rows, d))| (rows, d, EPS[i % 3]));
    Cases {
        rows: norms.flat_map(|norm| [Part::Sum, Part::Normed].map(|part| (norm, part))).collect(),
        small: [Part::Sum, Part::Normed].map(|part| ((20, 70, 1e-5), part)).to_vec(),
        reach: EACH_KERNEL.map(|d| ((9, d, 1e-5), Part::Normed)).to_vec(),
        ..Cases::default()
    }
}

/// x [rows,d], r [rows,d], w [d] -> the sum [rows,d] and its norm [rows,d]
pub(super) fn add_rmsnorm() -> Op {
    Op::new([[5, 7], [5, 7], [1, 7]], |c, [x, r, w], [[rows, d], ..]| {
        <[Tensor; 2]>::from(c.add_rmsnorm_t(x, r, w, rows, d, 1e-5)).to_vec()
    })
    .cases(
        |ctx, case| {
            let call = |[x, r, w, _]: [&Tensor; 4], rows, d, eps| ctx.add_rmsnorm_t(x, r, w, rows, d, eps);
            add_norm_case(ctx, case, call, |x, w, _, eps| reference::rmsnorm(x, w, eps))
        },
        add_norms(),
    )
}

/// x [rows,d], r [rows,d], w [d], b [d] -> the sum [rows,d] and its norm [rows,d]
pub(super) fn add_layernorm() -> Op {
    Op::new([[5, 7], [5, 7], [1, 7], [1, 7]], |c, [x, r, w, b], [[rows, d], ..]| {
        <[Tensor; 2]>::from(c.add_layernorm_t(x, r, w, b, rows, d, 1e-5)).to_vec()
    })
    .cases(
        |ctx, case| {
            let call = |[x, r, w, b]: [&Tensor; 4], rows, d, eps| ctx.add_layernorm_t(x, r, w, b, rows, d, eps);
            add_norm_case(ctx, case, call, reference::layernorm)
        },
        add_norms(),
    )
}

/// One result of a residual and its norm, by the call on x, r, w and b and by the reference of x, w, b and eps.
fn add_norm_case(
    ctx: &Context,
    ((rows, d, eps), part): (Norm, Part),
    call: impl Fn([&Tensor; 4], u32, u32, f32) -> (Tensor, Tensor),
    norm: impl Fn(&[f32], &[f32], &[f32], f32) -> Vec<f64>,
) -> Case {
    let label = format!("{part:?} of rows {rows} d {d} eps {eps}");
    let mut rng = Rng::new(&label);
    let (x, r) = (rng.values(rows * d, -2.0, 4.0), rng.values(rows * d, -3.0, 3.0));
    let (w, b) = (rng.unit(d), rng.unit(d));
    let [tx, tr] = [&x, &r].map(|data| ctx.tensor(data, &[rows, d]));
    let [tw, tb] = [&w, &b].map(|data| ctx.tensor(data, &[d]));
    let (sum, normed) = call([&tx, &tr, &tw, &tb], rows as u32, d as u32, eps);
    // The sum is rounded once, and the norm is that of what was rounded.
    let added: Vec<f32> = x.iter().zip(&r).map(|(x, r)| x + r).collect();
    let (got, want, bound) = match part {
        Part::Sum => (sum, reference::widen(&added), vec![0.0; added.len()]),
        Part::Normed => {
            let want = norm(&added, &w, &b, eps);
            let bound = bound::rows(&want, d, 2e-6);
            (normed, want, bound)
        }
    };
    Case { label, got, shape: vec![rows, d], want, bound }
}

/// t, h, dh and base of a rotation.
type Rotation = (usize, usize, usize, f32);

fn rotations() -> Vec<Rotation> {
    let mut shapes: Vec<_> = SIZES.iter().map(|&t| (t, 3, 16, 1e4)).collect();
    shapes.extend([2, 4, 6, 8, 64, 80, 96, 120, 128, 192, 256].map(|dh| (9, 2, dh, 1e4)));
    shapes.extend([1, 2, 3, 4, 5, 7, 8, 9].into_iter().flat_map(|h| [(3, h, 8, 1e4), (3, h, 10, 1e4)]));
    shapes.extend([(5, 1, 64, 5e5), (5, 9, 64, 1e6), (5, 32, 128, 1e4), (MANY, 1, 8, 1e4), (1, MANY, 4, 1e4)]);
    shapes
}

/// x [t, h·dh] -> [t, h·dh]
pub(super) fn rope() -> Op {
    Op::new([[5, 12]], |c, [x], [[t, width]]| vec![c.rope_t(x, t, 2, width / 2, 1e4)]).cases(
        |ctx, rotation| rope_case(ctx, rotation, None),
        Cases {
            rows: rotations(),
            small: vec![(7, 2, 16, 1e4), (7, 5, 6, 1e4)],
            reach: vec![(7, 1, 16, 1e4), (7, 1, 6, 1e4)],
            ..Cases::default()
        },
    )
}

/// The same from a position on.
pub(super) fn rope_off() -> Op {
    let offsets = [0, 1, 7, 1023, 131_000];
    let mut rows: Vec<_> =
        rotations().into_iter().enumerate().map(|(i, rotation)| (rotation, offsets[i % 5])).collect();
    for base in [1e4, 5e5, 1e6] {
        for offset in [2047, 8191, 32_767, 65_535, 99_999, 131_070] {
            rows.extend([((2, 2, 64, base), offset), ((1, 3, 128, base), offset + 1)]);
        }
    }
    Op::new([[5, 12]], |c, [x], [[t, width]]| vec![c.rope_off_t(x, t, 2, width / 2, 1e4, 9)]).cases(
        |ctx, (rotation, offset)| rope_case(ctx, rotation, Some(offset)),
        Cases {
            rows,
            small: vec![((7, 2, 16, 1e4), 9)],
            reach: [(5, 6), (1, 16), (1, 6)].map(|(h, dh)| ((7, h, dh, 1e4), 9)).to_vec(),
            ..Cases::default()
        },
    )
}

/// `offset` None is the op without one.
fn rope_case(ctx: &Context, (t, h, dh, base): Rotation, offset: Option<usize>) -> Case {
    let label = format!("t {t} h {h} dh {dh} base {base} offset {offset:?}");
    let x = Rng::new(&label).unit(t * h * dh);
    let tensor = ctx.tensor(&x, &[t, h * dh]);
    let want = reference::rope(&x, h, dh, base, offset.unwrap_or(0));
    let (t32, h32, dh32) = (t as u32, h as u32, dh as u32);
    let got = match offset {
        None => ctx.rope_t(&tensor, t32, h32, dh32, base),
        Some(offset) => ctx.rope_off_t(&tensor, t32, h32, dh32, base, offset as u32),
    };
    Case { got, shape: vec![t, h * dh], bound: bound::transcendental(&want), want, label }
}
