//! The ops, each once: its call, its float64 reference, its bound and its rows. Tests that run over all ops take them
//! from here, and every line of the table is a test by the op's name: `cargo test table::softmax_t`.
//!
//! A new op of one or two inputs is one line of the table. Any other is a function of a file beside this one, too.

mod attention;
mod elementwise;
mod movement;
mod products;
mod rows;

use tensorweft::{Context, Dtype, Tensor};

use crate::check::{Case, Row, bound, check};
use crate::reference;
pub(crate) use elementwise::{Unary, WIDE};
use elementwise::{binary, unary};

/// Declares the table, and a test for each of its ops.
macro_rules! ops {
    ($($name:ident: $op:expr;)*) => {
        pub(crate) fn table() -> Vec<Op> {
            vec![$(Op { name: stringify!($name), ..Op::from($op) }),*]
        }

        $(gpu_test! {
            async fn $name(ctx) {
                check(ctx, find(stringify!($name)).rows()).await;
            }
        })*
    };
}

ops! {
    mm: products::mm();
    mm_bt: products::mm_bt();

    silu_t: unary(Context::silu_t, reference::silu);
    sigmoid_t: unary(Context::sigmoid_t, reference::sigmoid);
    sqrt_t: unary(Context::sqrt_t, f64::sqrt).above(0.0).within(bound::elementwise);
    gelu_t: unary(Context::gelu_t, reference::gelu);
    gelu_tanh_t: unary(Context::gelu_tanh_t, reference::gelu_tanh);
    relu_t: unary(Context::relu_t, reference::relu).within(bound::exact);
    add_t: binary(Context::add_t, |a, b| a + b);
    sub_t: binary(Context::sub_t, |a, b| a - b);
    mul_t: binary(Context::mul_t, |a, b| a * b);
    div_t: binary(Context::div_t, |a, b| a / b);
    swiglu_t: binary(Context::swiglu_t, |gate, up| reference::silu(gate) * up).within(bound::transcendental);
    geglu_t: binary(Context::geglu_t, |gate, up| reference::gelu(gate) * up).within(bound::transcendental);
    geglu_tanh_t: binary(Context::geglu_tanh_t, |gate, up| reference::gelu_tanh(gate) * up).within(bound::transcendental);
    mul_scalar_t: elementwise::mul_scalar();
    scale_t: elementwise::scale();
    add_bias_t: elementwise::add_bias();
    add_bias_act_t: elementwise::add_bias_act();

    to_dtype: movement::to_dtype();
    dup: movement::dup();
    gather0: movement::gather0();
    transpose2d_t: movement::transpose2d();

    softmax_t: rows::softmax();
    rmsnorm_t: rows::rmsnorm();
    layernorm_t: rows::layernorm();
    add_rmsnorm_t: rows::add_rmsnorm();
    add_layernorm_t: rows::add_layernorm();
    rope_t: rows::rope();
    rope_off_t: rows::rope_off();

    mha_decode_t: attention::mha_decode();
    mha_causal_t: attention::mha_causal();
    mha_causal_off_t: attention::mha_causal_off();
    attention_t: attention::attention();
}

pub(crate) fn find(name: &str) -> Op {
    table().into_iter().find(|op| op.name == name).unwrap_or_else(|| panic!("no op {name} in the table"))
}

/// One small case or a few of every op, for tests of order, repetition and company.
pub(crate) fn small() -> Vec<Row> {
    table().into_iter().flat_map(Op::small).collect()
}

/// Rows and columns of an input.
pub(crate) type Shape = [u32; 2];

/// A tensor of that shape whose values `make` gives, by their number.
pub(crate) fn input(ctx: &Context, shape: Shape, make: impl FnOnce(usize) -> Vec<f32>) -> Tensor {
    let shape = shape.map(|size| size as usize);
    ctx.tensor(&make(shape[0] * shape[1]), &shape)
}

type Call = Box<dyn Fn(&Context, &[&Tensor], &[Shape]) -> Vec<Tensor>>;
type Later = Box<dyn FnOnce(&Context) -> Case>;

pub(crate) struct Op {
    pub(crate) name: &'static str,
    /// The shapes of its tensors in a small call.
    pub(crate) inputs: Vec<Shape>,
    call: Call,
    rows: Vec<Later>,
    small: Vec<Later>,
    reach: Vec<Later>,
    f16: Vec<Later>,
    /// Element i of each result comes from element i of the inputs of shape `WIDE`.
    pub(crate) elementwise: bool,
    /// What more is known of an op of one value.
    pub(crate) unary: Option<Unary>,
}

/// The parameters of an op's cases.
pub(crate) struct Cases<P> {
    /// For the op's own test: every shape that a kernel may treat in its own way.
    pub(crate) rows: Vec<P>,
    /// For tests that run all ops together, again and again.
    pub(crate) small: Vec<P>,
    /// What the small ones lack to run each kernel that the op has for inputs stored as f32.
    pub(crate) reach: Vec<P>,
    /// The same for kernels that read f16.
    pub(crate) f16: Vec<P>,
}

impl<P> Default for Cases<P> {
    fn default() -> Self {
        Self { rows: Vec::new(), small: Vec::new(), reach: Vec::new(), f16: Vec::new() }
    }
}

impl Op {
    /// An op by the shapes of a small call and the call itself, which takes its sizes from shapes: a failed tensor has
    /// none of its own.
    fn new<const N: usize>(
        inputs: [Shape; N],
        call: impl Fn(&Context, [&Tensor; N], [Shape; N]) -> Vec<Tensor> + 'static,
    ) -> Self {
        Self {
            name: "",
            inputs: inputs.to_vec(),
            call: Box::new(move |ctx, tensors, shapes| {
                call(ctx, tensors.try_into().expect("tensors"), shapes.try_into().expect("shapes"))
            }),
            rows: Vec::new(),
            small: Vec::new(),
            reach: Vec::new(),
            f16: Vec::new(),
            elementwise: false,
            unary: None,
        }
    }

    fn cases<P: 'static>(self, case: impl Fn(&Context, P) -> Case + Copy + 'static, lists: Cases<P>) -> Self {
        let later = |list: Vec<P>| {
            list.into_iter().map(|parameters| -> Later { Box::new(move |ctx| case(ctx, parameters)) }).collect()
        };
        let Cases { rows, small, reach, f16 } = lists;
        Self { rows: later(rows), small: later(small), reach: later(reach), f16: later(f16), ..self }
    }

    /// All results on tensors of the given shapes.
    pub(crate) fn call(&self, ctx: &Context, tensors: &[&Tensor], shapes: &[Shape]) -> Vec<Tensor> {
        (self.call)(ctx, tensors, shapes)
    }

    /// The small call.
    pub(crate) fn run(&self, ctx: &Context, tensors: &[&Tensor]) -> Vec<Tensor> {
        self.call(ctx, tensors, &self.inputs)
    }

    pub(crate) fn rows(self) -> Vec<Row> {
        named(self.name, self.rows)
    }

    pub(crate) fn small(self) -> Vec<Row> {
        named(self.name, self.small)
    }

    /// Cases that run every kernel of the op that reads f32 alone, from inputs that no kernel made.
    pub(crate) fn reach(self) -> Vec<Row> {
        named(self.name, self.small.into_iter().chain(self.reach))
    }

    /// Cases that run those that read f16.
    pub(crate) fn reach_f16(self) -> Vec<Row> {
        named(self.name, self.f16)
    }
}

fn named(op: &'static str, cases: impl IntoIterator<Item = Later>) -> Vec<Row> {
    cases.into_iter().map(|case| Row { op, case }).collect()
}

// === What the rows of several families share ===

/// None, one, and around every size that a tile or a workgroup may have.
const SIZES: [usize; 18] = [0, 1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257];

/// More rows than one dispatch dimension has workgroups.
const MANY: usize = 70_000;

/// A case of more workgroups than one dimension of a dispatch may have, so that they spread over a second one. On a
/// browser's software adapter a workgroup with barriers takes a millisecond, so there only a row of `mm_bt` tries it:
/// the code is the same for every kernel.
fn many_groups<T>(case: T) -> Option<T> {
    (!crate::BROWSER).then_some(case)
}

/// Rows and columns for the ops that work row by row.
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

/// An input stored as `dtype`. What that loses, `data` loses too.
fn stored(ctx: &Context, dtype: Dtype, data: &mut [f32], shape: &[usize]) -> Tensor {
    if dtype == Dtype::F32 {
        return ctx.tensor(data, shape);
    }
    let t = ctx.tensor_f16(data, shape);
    data.iter_mut().for_each(|x| *x = reference::half(*x));
    t
}

/// What a label adds for inputs stored as `dtype`.
fn mark(dtype: Dtype) -> &'static str {
    if dtype == Dtype::F16 { ", f16" } else { "" }
}

/// Every case, and some of each kind once more with inputs stored as f16, for the kernels that read them so.
fn both<T: Clone>(cases: Vec<T>) -> Vec<(T, Dtype)> {
    let some: Vec<T> = cases.iter().step_by(7).chain(cases.iter().rev().take(8)).cloned().collect();
    let f16 = some.into_iter().map(|case| (case, Dtype::F16));
    cases.into_iter().map(|case| (case, Dtype::F32)).chain(f16).collect()
}

/// The cases with inputs stored as f32.
fn f32s<T>(cases: impl IntoIterator<Item = T>) -> Vec<(T, Dtype)> {
    cases.into_iter().map(|case| (case, Dtype::F32)).collect()
}
