//! The rows: for each op a function that queues it on seeded inputs beside what it must give, and the
//! list of shapes that it runs on. A new op is one function and one line of `TABLE`.

use tensorweft::{Activation, Context, Dtype, Tensor};

use crate::check::{Case, Rng, Row, bound};
use crate::reference::{self, Heads};

/// Every op of the contract and its rows.
pub(crate) const TABLE: &[(&str, Rows)] = &[
    ("mm", mm_rows),
    ("mm_bt", mm_bt_rows),
    ("silu_t", || unary_rows("silu_t")),
    ("sigmoid_t", || unary_rows("sigmoid_t")),
    ("sqrt_t", || unary_rows("sqrt_t")),
    ("gelu_t", || unary_rows("gelu_t")),
    ("gelu_tanh_t", || unary_rows("gelu_tanh_t")),
    ("relu_t", || unary_rows("relu_t")),
    ("add_t", || binary_rows("add_t")),
    ("sub_t", || binary_rows("sub_t")),
    ("mul_t", || binary_rows("mul_t")),
    ("div_t", || binary_rows("div_t")),
    ("swiglu_t", || gated_rows("swiglu_t")),
    ("geglu_t", || gated_rows("geglu_t")),
    ("geglu_tanh_t", || gated_rows("geglu_tanh_t")),
    ("mul_scalar_t", mul_scalar_rows),
    ("add_bias_t", add_bias_rows),
    ("add_bias_act_t", add_bias_act_rows),
    ("dup", dup_rows),
    ("gather0", gather_rows),
    ("transpose2d_t", transpose_rows),
    ("softmax_t", softmax_rows),
    ("rmsnorm_t", rmsnorm_rows),
    ("layernorm_t", layernorm_rows),
    ("add_rmsnorm_t", || add_norm_rows("add_rmsnorm_t")),
    ("add_layernorm_t", || add_norm_rows("add_layernorm_t")),
    ("rope_t", rope_rows),
    ("rope_off_t", rope_off_rows),
    ("mha_decode_t", decode_rows),
    ("mha_causal_t", causal_rows),
    ("mha_causal_off_t", causal_off_rows),
    ("attention_t", attention_rows),
];

type Rows = fn() -> Vec<Row>;

/// None, one, and around every size that a tile or a workgroup may have.
pub(crate) const SIZES: [usize; 18] = [0, 1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257];

/// More rows than one dispatch dimension has workgroups.
const MANY: usize = 70_000;

/// A case of more workgroups than one dispatch dimension has. On a browser's software adapter a workgroup with
/// barriers takes a millisecond, so there one row of `mm_bt` tries the fold, which is the same code for every kernel.
fn many_groups<T>(case: T) -> Option<T> {
    (!crate::BROWSER).then_some(case)
}

const HEAD_SIZES: [usize; 12] = [1, 2, 3, 5, 64, 80, 96, 120, 128, 192, 256, 257];

/// hq, hkv
const GROUPS: [(usize, usize); 7] = [(1, 1), (4, 2), (6, 2), (6, 3), (8, 1), (9, 3), (5, 5)];

fn row(case: impl FnOnce(&Context) -> Case + 'static) -> Row {
    Box::new(case)
}

/// An input stored as `dtype`. What that loses, `data` loses too.
fn stored(ctx: &Context, dtype: Dtype, data: &mut [f32], shape: &[usize]) -> Tensor {
    if dtype == Dtype::F32 {
        return ctx.tensor(data, shape);
    }
    let t = ctx.tensor_f16(data, shape);
    data.iter_mut().for_each(|x| *x = reference::half(*x));
    t
}

fn mark(dtype: Dtype) -> &'static str {
    if dtype == Dtype::F16 { ", f16" } else { "" }
}

/// Every case, and some of each kind once more with inputs stored as f16, for the kernels that read them so.
fn both<T: Clone>(cases: Vec<T>) -> impl Iterator<Item = (T, Dtype)> {
    let some: Vec<T> = cases.iter().step_by(7).chain(cases.iter().rev().take(8)).cloned().collect();
    let f16 = some.into_iter().map(|case| (case, Dtype::F16));
    cases.into_iter().map(|case| (case, Dtype::F32)).chain(f16)
}

// === Products ===

/// a [m,k] · b [k,n] -> [m,n]
pub(crate) fn mm(ctx: &Context, m: usize, k: usize, n: usize) -> Case {
    mm_as(ctx, Dtype::F32, m, k, n)
}

/// The same with b stored as `dtype`.
fn mm_as(ctx: &Context, dtype: Dtype, m: usize, k: usize, n: usize) -> Case {
    let label = format!("m {m} k {k} n {n}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (a, mut b) = (rng.unit(m * k), rng.unit(k * n));
    let tb = stored(ctx, dtype, &mut b, &[k, n]);
    Case {
        op: "mm",
        got: ctx.mm(&ctx.tensor(&a, &[m, k]), &tb, m as u32, k as u32, n as u32),
        shape: vec![m, n],
        want: reference::mm(&a, &b, m, k, n),
        bound: bound::mm(&a, &b, m, k, n),
        label,
    }
}

/// scale · a [m,k] · b [n,k]ᵀ -> [m,n]
pub(crate) fn mm_bt(ctx: &Context, m: usize, n: usize, k: usize, scale: f32) -> Case {
    mm_bt_as(ctx, Dtype::F32, m, n, k, scale)
}

/// The same with b stored as `dtype`.
fn mm_bt_as(ctx: &Context, dtype: Dtype, m: usize, n: usize, k: usize, scale: f32) -> Case {
    let label = format!("m {m} n {n} k {k} scale {scale}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (a, mut b) = (rng.unit(m * k), rng.unit(n * k));
    let tb = stored(ctx, dtype, &mut b, &[n, k]);
    Case {
        op: "mm_bt",
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
    shapes.extend([(MANY, 1, 1), (1, 1, 4097), (0, 5, 7), (5, 0, 7), (5, 7, 0)]);
    shapes.extend(many_groups((1, 2, 32 * 65_535 + 1)));
    shapes
}

fn mm_rows() -> Vec<Row> {
    both(products()).map(|((m, k, n), dtype)| row(move |ctx| mm_as(ctx, dtype, m, k, n))).collect()
}

fn mm_bt_rows() -> Vec<Row> {
    let scales = [1.0, 0.125, -3.7];
    let mut shapes = products();
    shapes.push((1, 4, 4 * 65_535 + 1));
    both(shapes)
        .enumerate()
        .map(|(i, ((m, k, n), dtype))| row(move |ctx| mm_bt_as(ctx, dtype, m, n, k, scales[i % 3])))
        .collect()
}

// === Elementwise ===

type Unary = fn(&Context, &Tensor) -> Tensor;
type Binary = fn(&Context, &Tensor, &Tensor) -> Tensor;

pub(crate) fn unary_op(op: &str) -> Unary {
    match op {
        "silu_t" => Context::silu_t,
        "sigmoid_t" => Context::sigmoid_t,
        "sqrt_t" => Context::sqrt_t,
        "gelu_t" => Context::gelu_t,
        "gelu_tanh_t" => Context::gelu_tanh_t,
        "relu_t" => Context::relu_t,
        _ => panic!("no unary op {op}"),
    }
}

pub(crate) fn binary_op(op: &str) -> Binary {
    match op {
        "add_t" => Context::add_t,
        "sub_t" => Context::sub_t,
        "mul_t" => Context::mul_t,
        "div_t" => Context::div_t,
        _ => panic!("no binary op {op}"),
    }
}

pub(crate) fn unary_bound(op: &str) -> fn(&[f64]) -> Vec<f64> {
    match op {
        "relu_t" => bound::exact,
        "sqrt_t" => bound::elementwise,
        _ => bound::transcendental,
    }
}

/// x [..] -> [..]
pub(crate) fn unary(ctx: &Context, op: &'static str, shape: &[usize]) -> Case {
    let label = format!("{shape:?}");
    let low = if op == "sqrt_t" { 0.0 } else { -9.0 };
    let x = Rng::new(&label).values(shape.iter().product(), low, 9.0);
    let want: Vec<f64> = x.iter().map(|&x| reference::unary(op)(f64::from(x))).collect();
    Case {
        op,
        got: unary_op(op)(ctx, &ctx.tensor(&x, shape)),
        shape: shape.to_vec(),
        bound: unary_bound(op)(&want),
        want,
        label,
    }
}

/// a [..], b [..] -> [..]
pub(crate) fn binary(ctx: &Context, op: &'static str, shape: &[usize]) -> Case {
    let label = format!("{shape:?}");
    let mut rng = Rng::new(&label);
    let n = shape.iter().product();
    let a = rng.values(n, -9.0, 9.0);
    let b: Vec<f32> = rng.values(n, -9.0, 9.0).iter().map(|&b| if b.abs() < 0.01 { 0.25 } else { b }).collect();
    let want: Vec<f64> = a.iter().zip(&b).map(|(&a, &b)| reference::binary(op)(f64::from(a), f64::from(b))).collect();
    Case {
        op,
        got: binary_op(op)(ctx, &ctx.tensor(&a, shape), &ctx.tensor(&b, shape)),
        shape: shape.to_vec(),
        bound: bound::elementwise(&want),
        want,
        label,
    }
}

fn elementwise_shapes() -> Vec<Vec<usize>> {
    let mut shapes: Vec<Vec<usize>> = SIZES.iter().map(|&n| vec![n]).collect();
    shapes.extend([1000, 1023, 1024, 1025, 65_535, 65_537, 131_073, 262_145].map(|n| vec![n]));
    shapes.extend([vec![3, 5], vec![0, 4], vec![2, 3, 7], vec![1, 1], vec![MANY, 3], vec![2, 1, 3, 5]]);
    shapes
}

fn unary_rows(op: &'static str) -> Vec<Row> {
    elementwise_shapes().into_iter().map(|shape| row(move |ctx| unary(ctx, op, &shape))).collect()
}

fn binary_rows(op: &'static str) -> Vec<Row> {
    elementwise_shapes().into_iter().map(|shape| row(move |ctx| binary(ctx, op, &shape))).collect()
}

pub(crate) fn gated_op(op: &str) -> Binary {
    match op {
        "swiglu_t" => Context::swiglu_t,
        "geglu_t" => Context::geglu_t,
        "geglu_tanh_t" => Context::geglu_tanh_t,
        _ => panic!("no gated unit {op}"),
    }
}

/// gate [..], up [..] -> [..]
pub(crate) fn gated(ctx: &Context, op: &'static str, shape: &[usize]) -> Case {
    let label = format!("{shape:?}");
    let mut rng = Rng::new(&label);
    let n = shape.iter().product();
    let (gate, up) = (rng.values(n, -9.0, 9.0), rng.unit(n));
    let f = reference::gated(op);
    let want: Vec<f64> = gate.iter().zip(&up).map(|(&gate, &up)| f(f64::from(gate), f64::from(up))).collect();
    Case {
        op,
        got: gated_op(op)(ctx, &ctx.tensor(&gate, shape), &ctx.tensor(&up, shape)),
        shape: shape.to_vec(),
        bound: bound::transcendental(&want),
        want,
        label,
    }
}

fn gated_rows(op: &'static str) -> Vec<Row> {
    elementwise_shapes().into_iter().map(|shape| row(move |ctx| gated(ctx, op, &shape))).collect()
}

/// a [..] · s [1] -> [..]
pub(crate) fn mul_scalar(ctx: &Context, shape: &[usize], s: f32) -> Case {
    let label = format!("{shape:?} s {s}");
    let a = Rng::new(&label).values(shape.iter().product(), -9.0, 9.0);
    let want: Vec<f64> = a.iter().map(|&a| f64::from(a) * f64::from(s)).collect();
    Case {
        op: "mul_scalar_t",
        got: ctx.mul_scalar_t(&ctx.tensor(&a, shape), &ctx.tensor(&[s], &[1])),
        shape: shape.to_vec(),
        bound: bound::elementwise(&want),
        want,
        label,
    }
}

fn mul_scalar_rows() -> Vec<Row> {
    let scalars = [2.0, -0.37, 0.0, 1e4];
    elementwise_shapes()
        .into_iter()
        .enumerate()
        .map(|(i, shape)| row(move |ctx| mul_scalar(ctx, &shape, scalars[i % 4])))
        .collect()
}

/// a [rows,d] + bias [d] -> [rows,d]
pub(crate) fn add_bias(ctx: &Context, rows: usize, d: usize) -> Case {
    let label = format!("rows {rows} d {d}");
    let mut rng = Rng::new(&label);
    let (a, bias) = (rng.unit(rows * d), rng.unit(d));
    let want = reference::add_bias(&a, &bias);
    Case {
        op: "add_bias_t",
        got: ctx.add_bias_t(&ctx.tensor(&a, &[rows, d]), &ctx.tensor(&bias, &[d])),
        shape: vec![rows, d],
        bound: bound::elementwise(&want),
        want,
        label,
    }
}

/// rows, d of the ops that work row by row.
fn matrices() -> Vec<(usize, usize)> {
    let mut shapes = Vec::new();
    for s in SIZES {
        shapes.extend([(s, 8), (3, s), (s, s), (1, s)]);
    }
    for d in [384, 511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193] {
        shapes.extend([(1, d), (5, d)]);
    }
    shapes.extend([(MANY, 8), (MANY, 1), (MANY, 3)]);
    shapes
}

fn add_bias_rows() -> Vec<Row> {
    let shapes = matrices().into_iter().chain([(2, 151_936), (1, 262_145)]);
    shapes.map(|(rows, d)| row(move |ctx| add_bias(ctx, rows, d))).collect()
}

pub(crate) const ACTIVATIONS: [(Activation, &str); 4] = [
    (Activation::Relu, "relu_t"),
    (Activation::Silu, "silu_t"),
    (Activation::Gelu, "gelu_t"),
    (Activation::GeluTanh, "gelu_tanh_t"),
];

/// activation(a [rows,d] + bias [d]) -> [rows,d]
pub(crate) fn add_bias_act(ctx: &Context, rows: usize, d: usize, (activation, alone): (Activation, &str)) -> Case {
    let label = format!("rows {rows} d {d} {activation:?}");
    let mut rng = Rng::new(&label);
    let (a, bias) = (rng.values(rows * d, -6.0, 6.0), rng.values(d, -3.0, 3.0));
    let want: Vec<f64> = reference::add_bias(&a, &bias).into_iter().map(reference::unary(alone)).collect();
    Case {
        op: "add_bias_act_t",
        got: ctx.add_bias_act_t(&ctx.tensor(&a, &[rows, d]), &ctx.tensor(&bias, &[d]), activation),
        shape: vec![rows, d],
        bound: bound::transcendental(&want),
        want,
        label,
    }
}

fn add_bias_act_rows() -> Vec<Row> {
    let shapes = matrices().into_iter().chain([(2, 151_936), (1, 262_145)]).enumerate();
    shapes.map(|(i, (rows, d))| row(move |ctx| add_bias_act(ctx, rows, d, ACTIVATIONS[i % 4]))).collect()
}

// === Moving data ===

/// The same values under another shape.
pub(crate) fn dup(ctx: &Context, from: &[usize], to: &[usize]) -> Case {
    let label = format!("{from:?} to {to:?}");
    let x = Rng::new(&label).unit(from.iter().product());
    let want = reference::widen(&x);
    Case {
        op: "dup",
        got: ctx.dup(&ctx.tensor(&x, from), to.to_vec()),
        shape: to.to_vec(),
        bound: bound::exact(&want),
        want,
        label,
    }
}

fn dup_rows() -> Vec<Row> {
    let shapes: [(&[usize], &[usize]); 7] = [
        (&[6], &[2, 3]),
        (&[2, 3], &[3, 2]),
        (&[2, 3, 4], &[24]),
        (&[1], &[1, 1, 1]),
        (&[0, 4], &[7, 0]),
        (&[257, 1], &[257]),
        (&[4, 5], &[4, 5]),
    ];
    shapes.into_iter().map(|(from, to)| row(move |ctx| dup(ctx, from, to))).collect()
}

/// data [rows,d], n ids -> [n,d]
pub(crate) fn gather0(ctx: &Context, rows: usize, d: usize, n: usize) -> Case {
    gather0_as(ctx, Dtype::F32, rows, d, n)
}

/// The same with data stored as `dtype`.
fn gather0_as(ctx: &Context, dtype: Dtype, rows: usize, d: usize, n: usize) -> Case {
    let label = format!("rows {rows} d {d} ids {n}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let mut data = rng.unit(rows * d);
    let table = stored(ctx, dtype, &mut data, &[rows, d]);
    let mut idx: Vec<u32> = (0..n).map(|_| rng.below(rows) as u32).collect();
    if let [first, .., last] = idx.as_mut_slice() {
        (*first, *last) = (rows as u32 - 1, 0);
    }
    let want = reference::gather0(&data, &idx, d);
    Case {
        op: "gather0",
        got: ctx.gather0(&table, &idx, d),
        shape: vec![n, d],
        bound: bound::exact(&want),
        want,
        label,
    }
}

fn gather_rows() -> Vec<Row> {
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
    both(shapes).map(|((rows, d, n), dtype)| row(move |ctx| gather0_as(ctx, dtype, rows, d, n))).collect()
}

/// x [rows,cols] -> [cols,rows]
pub(crate) fn transpose2d(ctx: &Context, rows: usize, cols: usize) -> Case {
    let label = format!("rows {rows} cols {cols}");
    let x = Rng::new(&label).unit(rows * cols);
    let want = reference::transpose2d(&x, rows, cols);
    Case {
        op: "transpose2d_t",
        got: ctx.transpose2d_t(&ctx.tensor(&x, &[rows, cols]), rows as u32, cols as u32),
        shape: vec![cols, rows],
        bound: bound::exact(&want),
        want,
        label,
    }
}

fn transpose_rows() -> Vec<Row> {
    let shapes = matrices()
        .into_iter()
        .chain([(8, MANY), (1, MANY), (300, 520), (301, 523), (64, 68), (65, 68), (68, 132)])
        .chain([2, 5, 16, 31, 32].into_iter().flat_map(|thin| [(thin, 9000), (thin, 1343), (1345, thin), (9001, thin)]))
        .chain(many_groups((64 * 65_535 + 1, 1)));
    shapes.map(|(rows, cols)| row(move |ctx| transpose2d(ctx, rows, cols))).collect()
}

// === Rows ===

/// x [rows,d] -> [rows,d]
pub(crate) fn softmax(ctx: &Context, rows: usize, d: usize) -> Case {
    let label = format!("rows {rows} d {d}");
    let x = Rng::new(&label).values(rows * d, -8.0, 8.0);
    let want = reference::softmax(&x, d);
    Case {
        op: "softmax_t",
        got: ctx.softmax_t(&ctx.tensor(&x, &[rows, d]), rows as u32, d as u32),
        shape: vec![rows, d],
        bound: bound::rows(&want, d, 2e-6),
        want,
        label,
    }
}

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

fn softmax_rows() -> Vec<Row> {
    let shapes = matrices().into_iter().chain(LONG).chain(many_groups((32 * 65_535 + 1, 2)));
    shapes.map(|(rows, d)| row(move |ctx| softmax(ctx, rows, d))).collect()
}

/// x [rows,d], w [d] -> [rows,d]
pub(crate) fn rmsnorm(ctx: &Context, rows: usize, d: usize, eps: f32) -> Case {
    let label = format!("rows {rows} d {d} eps {eps}");
    let mut rng = Rng::new(&label);
    let (x, w) = (rng.values(rows * d, -3.0, 3.0), rng.unit(d));
    let want = reference::rmsnorm(&x, &w, eps);
    Case {
        op: "rmsnorm_t",
        got: ctx.rmsnorm_t(&ctx.tensor(&x, &[rows, d]), &ctx.tensor(&w, &[d]), rows as u32, d as u32, eps),
        shape: vec![rows, d],
        bound: bound::rows(&want, d, 2e-6),
        want,
        label,
    }
}

const EPS: [f32; 3] = [1e-5, 1e-6, 0.1];

fn rmsnorm_rows() -> Vec<Row> {
    let shapes = matrices().into_iter().chain(LONG).chain(many_groups((32 * 65_535 + 1, 2))).enumerate();
    shapes.map(|(i, (rows, d))| row(move |ctx| rmsnorm(ctx, rows, d, EPS[i % 3]))).collect()
}

/// x [rows,d], w [d], b [d] -> [rows,d]
pub(crate) fn layernorm(ctx: &Context, rows: usize, d: usize, eps: f32) -> Case {
    let label = format!("rows {rows} d {d} eps {eps}");
    let mut rng = Rng::new(&label);
    let (x, w, b) = (rng.values(rows * d, -2.0, 4.0), rng.unit(d), rng.unit(d));
    let want = reference::layernorm(&x, &w, &b, eps);
    Case {
        op: "layernorm_t",
        got: ctx.layernorm_t(
            &ctx.tensor(&x, &[rows, d]),
            &ctx.tensor(&w, &[d]),
            &ctx.tensor(&b, &[d]),
            rows as u32,
            d as u32,
            eps,
        ),
        shape: vec![rows, d],
        bound: bound::rows(&want, d, 2e-6),
        want,
        label,
    }
}

fn layernorm_rows() -> Vec<Row> {
    let shapes = matrices().into_iter().chain(LONG).chain(many_groups((32 * 65_535 + 1, 2))).enumerate();
    shapes.map(|(i, (rows, d))| row(move |ctx| layernorm(ctx, rows, d, EPS[i % 3]))).collect()
}

/// The two results of a residual and its norm.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Sum,
    Normed,
}

/// x [rows,d], r [rows,d], w [d], b [d] -> one of the sum [rows,d] and its norm [rows,d]
pub(crate) fn add_norm(ctx: &Context, op: &'static str, rows: usize, d: usize, eps: f32, part: Part) -> Case {
    let label = format!("{part:?} of rows {rows} d {d} eps {eps}");
    let mut rng = Rng::new(&label);
    let (x, r) = (rng.values(rows * d, -2.0, 4.0), rng.values(rows * d, -3.0, 3.0));
    let (w, b) = (rng.unit(d), rng.unit(d));
    let [tx, tr] = [&x, &r].map(|data| ctx.tensor(data, &[rows, d]));
    let [tw, tb] = [&w, &b].map(|data| ctx.tensor(data, &[d]));
    let (rows32, d32) = (rows as u32, d as u32);
    let (sum, normed) = match op {
        "add_rmsnorm_t" => ctx.add_rmsnorm_t(&tx, &tr, &tw, rows32, d32, eps),
        _ => ctx.add_layernorm_t(&tx, &tr, &tw, &tb, rows32, d32, eps),
    };
    // The sum is rounded once, and the norm is that of what was rounded.
    let added: Vec<f32> = x.iter().zip(&r).map(|(x, r)| x + r).collect();
    let (got, want, bound) = match part {
        Part::Sum => (sum, reference::widen(&added), bound::exact(&reference::widen(&added))),
        Part::Normed => {
            let want = match op {
                "add_rmsnorm_t" => reference::rmsnorm(&added, &w, eps),
                _ => reference::layernorm(&added, &w, &b, eps),
            };
            let bound = bound::rows(&want, d, 2e-6);
            (normed, want, bound)
        }
    };
    Case { op, label, got, shape: vec![rows, d], want, bound }
}

fn add_norm_rows(op: &'static str) -> Vec<Row> {
    let shapes = matrices().into_iter().chain([(3, 50_257), (2, 65_536)]).chain(many_groups((32 * 65_535 + 1, 2)));
    let cases =
        shapes.enumerate().flat_map(|(i, shape)| [Part::Sum, Part::Normed].map(|part| (shape, EPS[i % 3], part)));
    cases.map(|((rows, d), eps, part)| row(move |ctx| add_norm(ctx, op, rows, d, eps, part))).collect()
}

// === Positions ===

/// x [t, h·dh] -> [t, h·dh]; `offset` None is the op without one.
pub(crate) fn rope(ctx: &Context, t: usize, h: usize, dh: usize, base: f32, offset: Option<usize>) -> Case {
    let label = format!("t {t} h {h} dh {dh} base {base} offset {offset:?}");
    let x = Rng::new(&label).unit(t * h * dh);
    let tensor = ctx.tensor(&x, &[t, h * dh]);
    let want = reference::rope(&x, h, dh, base, offset.unwrap_or(0));
    let (t32, h32, dh32) = (t as u32, h as u32, dh as u32);
    let (op, got) = match offset {
        None => ("rope_t", ctx.rope_t(&tensor, t32, h32, dh32, base)),
        Some(offset) => ("rope_off_t", ctx.rope_off_t(&tensor, t32, h32, dh32, base, offset as u32)),
    };
    Case { op, got, shape: vec![t, h * dh], bound: bound::transcendental(&want), want, label }
}

/// t, h, dh, base
fn rotations() -> Vec<(usize, usize, usize, f32)> {
    let mut shapes: Vec<_> = SIZES.iter().map(|&t| (t, 3, 16, 1e4)).collect();
    shapes.extend([2, 4, 6, 8, 64, 80, 96, 120, 128, 192, 256].map(|dh| (9, 2, dh, 1e4)));
    shapes.extend([1, 2, 3, 4, 5, 7, 8, 9].into_iter().flat_map(|h| [(3, h, 8, 1e4), (3, h, 10, 1e4)]));
    shapes.extend([(5, 1, 64, 5e5), (5, 9, 64, 1e6), (5, 32, 128, 1e4), (MANY, 1, 8, 1e4), (1, MANY, 4, 1e4)]);
    shapes
}

fn rope_rows() -> Vec<Row> {
    rotations().into_iter().map(|(t, h, dh, base)| row(move |ctx| rope(ctx, t, h, dh, base, None))).collect()
}

fn rope_off_rows() -> Vec<Row> {
    let offsets = [0, 1, 7, 1023, 131_000];
    let mut rows: Vec<Row> = rotations()
        .into_iter()
        .enumerate()
        .map(|(i, (t, h, dh, base))| row(move |ctx| rope(ctx, t, h, dh, base, Some(offsets[i % 5]))))
        .collect();
    for base in [1e4, 5e5, 1e6] {
        for offset in [2047, 8191, 32_767, 65_535, 99_999, 131_070] {
            rows.push(row(move |ctx| rope(ctx, 2, 2, 64, base, Some(offset))));
            rows.push(row(move |ctx| rope(ctx, 1, 3, 128, base, Some(offset + 1))));
        }
    }
    rows
}

// === Attention ===

/// q [1, hq·dh], k and v [s + spare, hkv·dh] -> [1, hq·dh]
pub(crate) fn decode(ctx: &Context, heads: Heads, s: usize, spare: usize) -> Case {
    decode_as(ctx, Dtype::F32, heads, s, spare)
}

/// The same with k and v stored as `dtype`.
fn decode_as(ctx: &Context, dtype: Dtype, heads: Heads, s: usize, spare: usize) -> Case {
    let Heads { hq, hkv, dh } = heads;
    let label = format!("hq {hq} hkv {hkv} dh {dh} s {s} of {}{}", s + spare, mark(dtype));
    let mut rng = Rng::new(&label);
    let (width, rows) = (hkv * dh, s + spare);
    let (q, mut k, mut v) = (rng.values(hq * dh, -2.0, 2.0), rng.unit(rows * width), rng.unit(rows * width));
    let [tk, tv] = [&mut k, &mut v].map(|x| stored(ctx, dtype, x, &[rows, width]));
    let want = reference::mha_decode(&q, &k, &v, heads, s);
    Case {
        op: "mha_decode_t",
        got: ctx.mha_decode_t(&ctx.tensor(&q, &[1, hq * dh]), &tk, &tv, hq as u32, hkv as u32, dh as u32, s as u32),
        shape: vec![1, hq * dh],
        bound: bound::attention(&want, &v[..s * width], 1e-5),
        want,
        label,
    }
}

fn decode_rows() -> Vec<Row> {
    let mut cases: Vec<(Heads, usize, usize)> = Vec::new();
    for s in SIZES.into_iter().chain([1000, 1024, 1025, 4097]) {
        cases.extend([(Heads { hq: 4, hkv: 2, dh: 16 }, s, 0), (Heads { hq: 1, hkv: 1, dh: 64 }, s, 3)]);
    }
    for dh in HEAD_SIZES {
        cases.extend([(Heads { hq: 4, hkv: 2, dh }, 9, 0), (Heads { hq: 3, hkv: 3, dh }, 300, 1)]);
    }
    for (hq, hkv) in GROUPS {
        cases.extend([(Heads { hq, hkv, dh: 32 }, 77, 51), (Heads { hq, hkv, dh: 32 }, 1, 0)]);
    }
    cases.extend([
        (Heads { hq: 2, hkv: 1, dh: 8 }, MANY, 0),
        (Heads { hq: 9, hkv: 3, dh: 64 }, 2048, 6),
        (Heads { hq: 32, hkv: 8, dh: 64 }, 600, 0),
        (Heads { hq: 32, hkv: 8, dh: 128 }, 300, 0),
    ]);
    both(cases).map(|((heads, s, spare), dtype)| row(move |ctx| decode_as(ctx, dtype, heads, s, spare))).collect()
}

/// q [t, hq·dh], k and v [offset + t, hkv·dh] -> [t, hq·dh]; `offset` None is the op without one.
pub(crate) fn causal(ctx: &Context, t: usize, heads: Heads, offset: Option<usize>) -> Case {
    causal_as(ctx, Dtype::F32, t, heads, offset)
}

/// The same with k and v stored as `dtype`.
fn causal_as(ctx: &Context, dtype: Dtype, t: usize, heads: Heads, offset: Option<usize>) -> Case {
    let Heads { hq, hkv, dh } = heads;
    let label = format!("t {t} hq {hq} hkv {hkv} dh {dh} offset {offset:?}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (width, s) = (hkv * dh, t + offset.unwrap_or(0));
    let (q, mut k, mut v) = (rng.values(t * hq * dh, -2.0, 2.0), rng.unit(s * width), rng.unit(s * width));
    let tq = ctx.tensor(&q, &[t, hq * dh]);
    let [tk, tv] = [&mut k, &mut v].map(|x| stored(ctx, dtype, x, &[s, width]));
    let (t32, hq32, hkv32, dh32) = (t as u32, hq as u32, hkv as u32, dh as u32);
    let (op, got) = match offset {
        None => ("mha_causal_t", ctx.mha_causal_t(&tq, &tk, &tv, t32, hq32, hkv32, dh32)),
        Some(offset) => {
            ("mha_causal_off_t", ctx.mha_causal_off_t(&tq, &tk, &tv, t32, hq32, hkv32, dh32, offset as u32))
        }
    };
    let want = reference::mha_causal(&q, &k, &v, t, heads, offset.unwrap_or(0));
    Case { op, got, shape: vec![t, hq * dh], bound: bound::attention(&want, &v, 1e-5), want, label }
}

fn causal_rows() -> Vec<Row> {
    let mut cases: Vec<(usize, Heads)> = SIZES.iter().map(|&t| (t, Heads { hq: 2, hkv: 1, dh: 16 })).collect();
    cases.extend(SIZES.iter().map(|&t| (t, Heads { hq: 1, hkv: 1, dh: 40 })));
    for dh in HEAD_SIZES {
        cases.extend([(9, Heads { hq: 4, hkv: 2, dh }), (70, Heads { hq: 1, hkv: 1, dh })]);
    }
    cases.extend(GROUPS.map(|(hq, hkv)| (37, Heads { hq, hkv, dh: 8 })));
    cases.extend([(300, Heads { hq: 9, hkv: 3, dh: 64 }), (1025, Heads { hq: 1, hkv: 1, dh: 8 })]);
    cases.extend(many_groups((1, Heads { hq: 65_600, hkv: 65_600, dh: 1 })));
    both(cases).map(|((t, heads), dtype)| row(move |ctx| causal_as(ctx, dtype, t, heads, None))).collect()
}

fn causal_off_rows() -> Vec<Row> {
    let mut cases: Vec<(usize, Heads, usize)> = Vec::new();
    for t in SIZES {
        cases.extend([0, 1, 63, 100].map(|offset| (t, Heads { hq: 2, hkv: 1, dh: 16 }, offset)));
    }
    for dh in HEAD_SIZES {
        cases.extend([(3, Heads { hq: 4, hkv: 2, dh }, 6), (33, Heads { hq: 1, hkv: 1, dh }, 64)]);
    }
    cases.extend(GROUPS.map(|(hq, hkv)| (5, Heads { hq, hkv, dh: 8 }, 41)));
    cases.extend([(2, Heads { hq: 1, hkv: 1, dh: 4 }, MANY), (65, Heads { hq: 9, hkv: 3, dh: 64 }, 700)]);
    both(cases)
        .map(|((t, heads, offset), dtype)| row(move |ctx| causal_as(ctx, dtype, t, heads, Some(offset))))
        .collect()
}

/// q [rq,d], k [rk,d], v [rk,dv] -> [rq,dv]
pub(crate) fn attention(ctx: &Context, rq: usize, rk: usize, d: usize, dv: usize, scale: f32) -> Case {
    attention_as(ctx, Dtype::F32, [rq, rk, d, dv], scale)
}

/// The same with k and v stored as `dtype`.
fn attention_as(ctx: &Context, dtype: Dtype, [rq, rk, d, dv]: [usize; 4], scale: f32) -> Case {
    let label = format!("rq {rq} rk {rk} d {d} dv {dv} scale {scale}{}", mark(dtype));
    let mut rng = Rng::new(&label);
    let (q, mut k, mut v) = (rng.values(rq * d, -2.0, 2.0), rng.unit(rk * d), rng.unit(rk * dv));
    let (tk, tv) = (stored(ctx, dtype, &mut k, &[rk, d]), stored(ctx, dtype, &mut v, &[rk, dv]));
    let want = reference::attention(&q, &k, &v, rq, rk, d, dv, scale);
    Case {
        op: "attention_t",
        got: ctx.attention_t(&ctx.tensor(&q, &[rq, d]), &tk, &tv, rq as u32, rk as u32, d as u32, dv as u32, scale),
        shape: vec![rq, dv],
        bound: bound::attention(&want, &v, 1e-5),
        want,
        label,
    }
}

fn attention_rows() -> Vec<Row> {
    let mut cases: Vec<(usize, usize, usize, usize, f32)> = Vec::new();
    for s in SIZES {
        cases.extend([(s, 9, 16, 16, 0.25), (9, s, 16, 16, 0.25), (1, s, 8, 8, 0.5), (s, s, 5, 7, 0.3)]);
        cases.extend([(7, 12, s.max(1), 6, 0.2), (7, 12, 6, s, 0.2)]);
    }
    for d in HEAD_SIZES {
        let scale = 1.0 / (d as f32).sqrt();
        cases.extend([(9, 9, d, d, scale), (40, 70, d, d, scale), (3, 9, d, 2 * d, scale), (3, 9, 2 * d, d, scale)]);
    }
    cases.extend([(1, MANY, 4, 4, 0.5), (MANY, 3, 4, 4, 0.5), (2, 4097, 16, 8, 1.0), (130, 200, 64, 64, -0.125)]);
    both(cases)
        .map(|((rq, rk, d, dv, scale), dtype)| row(move |ctx| attention_as(ctx, dtype, [rq, rk, d, dv], scale)))
        .collect()
}

/// One small case of every op: for tests about order, repetition and company.
pub(crate) fn small() -> Vec<fn(&Context) -> Case> {
    const HEADS: Heads = Heads { hq: 4, hkv: 2, dh: 20 };
    vec![
        |ctx| mm(ctx, 33, 70, 65),
        |ctx| mm(ctx, 1, 300, 65),
        |ctx| mm(ctx, 20, 64, 128),
        |ctx| mm_bt(ctx, 33, 65, 70, 1.0),
        |ctx| mm_bt(ctx, 33, 65, 70, 0.125),
        |ctx| mm_bt(ctx, 1, 65, 300, 1.0),
        |ctx| mm_bt(ctx, 128, 128, 64, -2.0),
        |ctx| unary(ctx, "silu_t", &[300]),
        |ctx| unary(ctx, "sigmoid_t", &[300]),
        |ctx| unary(ctx, "sqrt_t", &[300]),
        |ctx| unary(ctx, "gelu_t", &[300]),
        |ctx| unary(ctx, "gelu_tanh_t", &[300]),
        |ctx| unary(ctx, "relu_t", &[64]),
        |ctx| unary(ctx, "relu_t", &[5000]),
        |ctx| binary(ctx, "add_t", &[300]),
        |ctx| binary(ctx, "sub_t", &[300]),
        |ctx| binary(ctx, "mul_t", &[300]),
        |ctx| binary(ctx, "div_t", &[300]),
        |ctx| mul_scalar(ctx, &[300], 3.0),
        |ctx| gated(ctx, "swiglu_t", &[300]),
        |ctx| gated(ctx, "geglu_t", &[300]),
        |ctx| gated(ctx, "geglu_tanh_t", &[300]),
        |ctx| add_bias(ctx, 30, 20),
        |ctx| add_bias_act(ctx, 30, 20, ACTIVATIONS[0]),
        |ctx| add_bias_act(ctx, 30, 20, ACTIVATIONS[1]),
        |ctx| add_bias_act(ctx, 30, 21, ACTIVATIONS[2]),
        |ctx| add_bias_act(ctx, 30, 20, ACTIVATIONS[3]),
        |ctx| dup(ctx, &[30, 2], &[6, 10]),
        |ctx| gather0(ctx, 30, 20, 40),
        |ctx| gather0(ctx, 30, 21, 40),
        |ctx| transpose2d(ctx, 33, 50),
        |ctx| transpose2d(ctx, 3, 1400),
        |ctx| transpose2d(ctx, 1400, 8),
        |ctx| transpose2d(ctx, 36, 52),
        |ctx| softmax(ctx, 20, 70),
        |ctx| softmax(ctx, 1, 50_257),
        |ctx| rmsnorm(ctx, 20, 70, 1e-5),
        |ctx| rmsnorm(ctx, 20, 70, 1e-2),
        |ctx| layernorm(ctx, 20, 70, 1e-5),
        |ctx| layernorm(ctx, 20, 70, 1e-2),
        |ctx| add_norm(ctx, "add_rmsnorm_t", 20, 70, 1e-5, Part::Sum),
        |ctx| add_norm(ctx, "add_rmsnorm_t", 20, 70, 1e-5, Part::Normed),
        |ctx| add_norm(ctx, "add_layernorm_t", 20, 70, 1e-5, Part::Sum),
        |ctx| add_norm(ctx, "add_layernorm_t", 20, 70, 1e-5, Part::Normed),
        |ctx| rope(ctx, 7, 2, 16, 1e4, None),
        |ctx| rope(ctx, 7, 5, 6, 1e4, None),
        |ctx| rope(ctx, 7, 2, 16, 1e4, Some(9)),
        |ctx| decode(ctx, HEADS, 33, 7),
        |ctx| decode(ctx, HEADS, 2000, 0),
        |ctx| causal(ctx, 40, HEADS, None),
        |ctx| causal(ctx, 40, HEADS, Some(25)),
        |ctx| attention(ctx, 20, 30, 16, 24, 0.25),
    ]
}

/// Cases that, with `small`, reach every kernel of the table.
pub(crate) fn variants() -> Vec<Row> {
    let mut rows: Vec<Row> = small().into_iter().map(|case| row(case)).collect();
    // Tiles of every size, with k whole and in parts; one row and few.
    let products = [
        (1800, 33, 1900),
        (65, 2049, 1925),
        (700, 40, 1000),
        (33, 20, 10_241),
        (20, 30, 6401),
        (40, 1030, 36),
        (8, 700, 3001),
        (5, 1025, 9),
        (1, 1025, 9),
        (1, 70, 8201),
        (8, 701, 3000),
        (8, 700, 301),
        (1, 700, 36),
    ];
    for dtype in [Dtype::F32, Dtype::F16] {
        for (m, k, n) in products {
            rows.push(row(move |ctx| mm_as(ctx, dtype, m, k, n)));
            rows.push(row(move |ctx| mm_bt_as(ctx, dtype, m, n, k, 0.7)));
        }
    }
    rows.push(row(|ctx| gather0_as(ctx, Dtype::F16, 30, 21, 40)));
    rows.push(row(|ctx| gather0_as(ctx, Dtype::F16, 30, 20, 40)));
    for d in [99, 100, 500, 501, 2000, 3001, 4000, 8000, 9000, 9001] {
        rows.push(row(move |ctx| softmax(ctx, 9, d)));
        rows.push(row(move |ctx| rmsnorm(ctx, 9, d, 1e-5)));
        rows.push(row(move |ctx| layernorm(ctx, 9, d, 1e-5)));
        rows.push(row(move |ctx| add_norm(ctx, "add_rmsnorm_t", 9, d, 1e-5, Part::Normed)));
        rows.push(row(move |ctx| add_norm(ctx, "add_layernorm_t", 9, d, 1e-5, Part::Normed)));
    }
    // Few rows and many, narrow heads and wide, keys whole and in parts.
    for hq in [1, 4, 7, 8, 9] {
        for dh in [64, 66, 128, 130, 260] {
            for (s, dtype) in [(50, Dtype::F32), (1100, Dtype::F32), (50, Dtype::F16), (1100, Dtype::F16)] {
                rows.push(row(move |ctx| decode_as(ctx, dtype, Heads { hq, hkv: 1, dh }, s, 2)));
            }
        }
    }
    rows.push(row(|ctx| causal(ctx, 50, Heads { hq: 2, hkv: 2, dh: 128 }, Some(500))));
    rows.push(row(|ctx| attention(ctx, 3, 700, 64, 128, 0.2)));
    rows
}
