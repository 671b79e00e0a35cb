//! Ops whose element i comes from element i of their inputs.

use tensorweft::{Activation, Context, Tensor};

use super::{Cases, MANY, Op, SIZES, Shape, matrices};
use crate::check::{Bound, Case, Rng, bound};
use crate::reference;

/// More elements than a workgroup has in its vectors of four, in rows of odd length.
pub(crate) const WIDE: Shape = [147, 7];

/// An op of one value.
#[derive(Clone, Copy)]
pub(crate) struct Unary {
    pub(crate) call: fn(&Context, &Tensor) -> Tensor,
    pub(crate) formula: fn(f64) -> f64,
    pub(crate) bound: Bound,
    lowest: f32,
}

/// An op of one value, defined everywhere, in which an exponential or the like dominates.
pub(super) fn unary(call: fn(&Context, &Tensor) -> Tensor, formula: fn(f64) -> f64) -> Unary {
    Unary { call, formula, bound: bound::transcendental, lowest: -9.0 }
}

impl Unary {
    /// With values from `lowest` on.
    pub(super) fn above(self, lowest: f32) -> Self {
        Self { lowest, ..self }
    }

    pub(super) fn within(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    fn case(self, ctx: &Context, shape: &[usize]) -> Case {
        let label = format!("{shape:?}");
        let x = Rng::new(&label).values(shape.iter().product(), self.lowest, 9.0);
        let want: Vec<f64> = x.iter().map(|&x| (self.formula)(f64::from(x))).collect();
        Case {
            got: (self.call)(ctx, &ctx.tensor(&x, shape)),
            shape: shape.to_vec(),
            bound: (self.bound)(&want),
            want,
            label,
        }
    }
}

impl From<Unary> for Op {
    fn from(unary: Unary) -> Self {
        let op = Op::new([WIDE], move |c, [x], _| vec![(unary.call)(c, x)]);
        let op = op.cases(move |ctx, shape: Vec<usize>| unary.case(ctx, &shape), by_shape(|shape, _| shape));
        Self { elementwise: true, unary: Some(unary), ..op }
    }
}

/// An op of two values.
#[derive(Clone, Copy)]
pub(super) struct Binary {
    call: fn(&Context, &Tensor, &Tensor) -> Tensor,
    formula: fn(f64, f64) -> f64,
    bound: Bound,
}

/// An op of two values in which nothing is approximated.
pub(super) fn binary(call: fn(&Context, &Tensor, &Tensor) -> Tensor, formula: fn(f64, f64) -> f64) -> Binary {
    Binary { call, formula, bound: bound::elementwise }
}

impl Binary {
    pub(super) fn within(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    fn case(self, ctx: &Context, shape: &[usize]) -> Case {
        let label = format!("{shape:?}");
        let mut rng = Rng::new(&label);
        let n = shape.iter().product();
        let a = rng.values(n, -9.0, 9.0);
        // Far enough from zero to divide by.
        let b: Vec<f32> = rng.values(n, -9.0, 9.0).iter().map(|&b| if b.abs() < 0.01 { 0.25 } else { b }).collect();
        let want: Vec<f64> = a.iter().zip(&b).map(|(&a, &b)| (self.formula)(f64::from(a), f64::from(b))).collect();
        Case {
            got: (self.call)(ctx, &ctx.tensor(&a, shape), &ctx.tensor(&b, shape)),
            shape: shape.to_vec(),
            bound: (self.bound)(&want),
            want,
            label,
        }
    }
}

impl From<Binary> for Op {
    fn from(binary: Binary) -> Self {
        let op = Op::new([WIDE, WIDE], move |c, [a, b], _| vec![(binary.call)(c, a, b)]);
        let op = op.cases(move |ctx, shape: Vec<usize>| binary.case(ctx, &shape), by_shape(|shape, _| shape));
        Self { elementwise: true, ..op }
    }
}

/// Shapes for the ops above, as the parameters that `with` makes of a shape and its number.
fn by_shape<P>(with: impl Fn(Vec<usize>, usize) -> P) -> Cases<P> {
    let mut shapes: Vec<Vec<usize>> = SIZES.iter().map(|&n| vec![n]).collect();
    shapes.extend([1000, 1023, 1024, 1025, 65_535, 65_537, 131_073, 262_145].map(|n| vec![n]));
    shapes.extend([vec![3, 5], vec![0, 4], vec![2, 3, 7], vec![1, 1], vec![MANY, 3], vec![2, 1, 3, 5]]);
    let list = |shapes: Vec<Vec<usize>>| shapes.into_iter().enumerate().map(|(i, shape)| with(shape, i)).collect();
    Cases { rows: list(shapes), small: list(vec![vec![300], vec![5000]]), ..Cases::default() }
}

const SCALARS: [f32; 4] = [2.0, -0.37, 0.0, 1e4];

/// a [..] · s [1] -> [..]
pub(super) fn mul_scalar() -> Op {
    let op = Op::new([WIDE, [1, 1]], |c, [a, s], _| vec![c.mul_scalar_t(a, s)]);
    let by_tensor = |c: &Context, a: &Tensor, s: f32| c.mul_scalar_t(a, &c.tensor(&[s], &[1]));
    let op = op.cases(move |ctx, shape| times(ctx, shape, by_tensor), by_shape(|shape, i| (shape, SCALARS[i % 4])));
    Op { elementwise: true, ..op }
}

/// a [..] · s -> [..] for a number
pub(super) fn scale() -> Op {
    let op = Op::new([WIDE], |c, [a], _| vec![c.scale_t(a, 3.0)]);
    let op = op
        .cases(|ctx, shape| times(ctx, shape, |c, a, s| c.scale_t(a, s)), by_shape(|shape, i| (shape, SCALARS[i % 4])));
    Op { elementwise: true, ..op }
}

fn times(ctx: &Context, (shape, s): (Vec<usize>, f32), call: fn(&Context, &Tensor, f32) -> Tensor) -> Case {
    let label = format!("{shape:?} s {s}");
    let a = Rng::new(&label).values(shape.iter().product(), -9.0, 9.0);
    let want: Vec<f64> = a.iter().map(|&a| f64::from(a) * f64::from(s)).collect();
    Case { got: call(ctx, &ctx.tensor(&a, &shape), s), bound: bound::elementwise(&want), shape, want, label }
}

/// Rows and columns of what a bias is added to.
fn biased() -> Vec<(usize, usize)> {
    matrices().into_iter().chain([(2, 151_936), (1, 262_145)]).collect()
}

/// a [rows,d] + bias [d] -> [rows,d]
pub(super) fn add_bias() -> Op {
    let op = Op::new([WIDE, [1, WIDE[1]]], |c, [a, bias], _| vec![c.add_bias_t(a, bias)]);
    let op = op.cases(add_bias_case, Cases { rows: biased(), small: vec![(30, 20)], ..Cases::default() });
    Op { elementwise: true, ..op }
}

fn add_bias_case(ctx: &Context, (rows, d): (usize, usize)) -> Case {
    let label = format!("rows {rows} d {d}");
    let mut rng = Rng::new(&label);
    let (a, bias) = (rng.unit(rows * d), rng.unit(d));
    let want = reference::add_bias(&a, &bias);
    Case {
        got: ctx.add_bias_t(&ctx.tensor(&a, &[rows, d]), &ctx.tensor(&bias, &[d])),
        shape: vec![rows, d],
        bound: bound::elementwise(&want),
        want,
        label,
    }
}

type Activated = (Activation, fn(f64) -> f64);

const ACTIVATIONS: [Activated; 4] = [
    (Activation::Relu, reference::relu),
    (Activation::Silu, reference::silu),
    (Activation::Gelu, reference::gelu),
    (Activation::GeluTanh, reference::gelu_tanh),
];

/// activation(a [rows,d] + bias [d]) -> [rows,d]
pub(super) fn add_bias_act() -> Op {
    let op = Op::new([WIDE, [1, WIDE[1]]], |c, [a, bias], _| {
        ACTIVATIONS.iter().map(|(activation, _)| c.add_bias_act_t(a, bias, *activation)).collect()
    });
    let op = op.cases(
        add_bias_act_case,
        Cases {
            rows: biased().into_iter().enumerate().map(|(i, shape)| (shape, ACTIVATIONS[i % 4])).collect(),
            small: ACTIVATIONS.map(|activation| ((30, 20), activation)).to_vec(),
            reach: vec![((30, 21), ACTIVATIONS[2])],
            ..Cases::default()
        },
    );
    Op { elementwise: true, ..op }
}

fn add_bias_act_case(ctx: &Context, ((rows, d), (activation, formula)): ((usize, usize), Activated)) -> Case {
    let label = format!("rows {rows} d {d} {activation:?}");
    let mut rng = Rng::new(&label);
    let (a, bias) = (rng.values(rows * d, -6.0, 6.0), rng.values(d, -3.0, 3.0));
    let want: Vec<f64> = reference::add_bias(&a, &bias).into_iter().map(formula).collect();
    Case {
        got: ctx.add_bias_act_t(&ctx.tensor(&a, &[rows, d]), &ctx.tensor(&bias, &[d]), activation),
        shape: vec![rows, d],
        bound: bound::transcendental(&want),
        want,
        label,
    }
}
