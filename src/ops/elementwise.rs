//! Elementwise ops: each value of the result depends on one value of each input.

use crate::context::Context;
use crate::error::Result;
use crate::kernel::table::{self, Bias, Len, Scale};
use crate::kernel::{Grid, Kernel};
use crate::op::Op;
use crate::tensor::Tensor;

/// What [`add_bias_act_t`](Context::add_bias_act_t) makes of each sum y. In the order of its kernel's variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// `max(y, 0)`, as [`relu_t`](Context::relu_t).
    Relu,
    /// `y / (1 + e⁻ʸ)`, as [`silu_t`](Context::silu_t).
    Silu,
    /// `y · Φ(y)`, as [`gelu_t`](Context::gelu_t).
    Gelu,
    /// The tanh form, as [`gelu_tanh_t`](Context::gelu_tanh_t).
    GeluTanh,
}

/// Vectors of four that cover the elements of `x`, and their grid.
fn cover(x: &Tensor) -> (u32, Grid) {
    let vectors = x.len().div_ceil(4);
    (vectors as u32, Grid { groups: vectors.div_ceil(256) as u64, cost: x.len() as u64 })
}

impl Op<'_> {
    fn unary(&self, kernel: &Kernel<Len, 1>, x: &Tensor) -> Result<Tensor> {
        let (len, grid) = cover(x);
        self.run(kernel, Len { len }, [x], x.shared_shape(), grid).map(|[y]| y)
    }

    fn binary(&self, kernel: &Kernel<Len, 2>, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        self.inputs(&[a, b])?;
        if a.len() != b.len() {
            return Err(self.shape_error(format!("shapes {:?} and {:?} differ in length", a.shape(), b.shape())));
        }
        let (len, grid) = cover(a);
        self.run(kernel, Len { len }, [a, b], a.shared_shape(), grid).map(|[y]| y)
    }

    pub(super) fn add(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        self.binary(&table::ADD, a, b)
    }

    fn add_bias(&self, kernel: &Kernel<Bias, 2>, a: &Tensor, bias: &Tensor) -> Result<Tensor> {
        self.inputs(&[a, bias])?;
        let d = bias.len();
        if !a.is_empty() && (d == 0 || !a.len().is_multiple_of(d)) {
            let why = format!("a bias of shape {:?} does not divide {:?} into rows", bias.shape(), a.shape());
            return Err(self.shape_error(why));
        }
        let (len, grid) = cover(a);
        self.run(kernel, Bias { len, d: d as u32 }, [a, bias], a.shared_shape(), grid).map(|[y]| y)
    }
}

/// # Elementwise
///
/// Inputs of any shape; results have that of the first. NaN gives NaN, and no other element changes. Ops of one input
/// have no errors but [those of every op](crate#errors).
impl Context {
    /// `x / (1 + e⁻ˣ)`
    #[track_caller]
    pub fn silu_t(&self, x: &Tensor) -> Tensor {
        self.op("silu_t").eval(|op| op.unary(&table::SILU, x))
    }

    /// `1 / (1 + e⁻ˣ)`
    #[track_caller]
    pub fn sigmoid_t(&self, x: &Tensor) -> Tensor {
        self.op("sigmoid_t").eval(|op| op.unary(&table::SIGMOID, x))
    }

    /// `√x`; NaN for negative x.
    #[track_caller]
    pub fn sqrt_t(&self, x: &Tensor) -> Tensor {
        self.op("sqrt_t").eval(|op| op.unary(&table::SQRT, x))
    }

    /// `x · Φ(x)`, the exact GELU: Φ is the standard normal distribution, by the error function.
    #[track_caller]
    pub fn gelu_t(&self, x: &Tensor) -> Tensor {
        self.op("gelu_t").eval(|op| op.unary(&table::GELU, x))
    }

    /// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))`, the tanh form of GELU.
    #[track_caller]
    pub fn gelu_tanh_t(&self, x: &Tensor) -> Tensor {
        self.op("gelu_tanh_t").eval(|op| op.unary(&table::GELU_TANH, x))
    }

    /// `max(x, 0)`
    #[track_caller]
    pub fn relu_t(&self, x: &Tensor) -> Tensor {
        self.op("relu_t").eval(|op| op.unary(&table::RELU, x))
    }

    /// `a + b`
    ///
    /// # Errors
    /// `shape-mismatch` if the lengths differ; nothing is broadcast.
    #[track_caller]
    pub fn add_t(&self, a: &Tensor, b: &Tensor) -> Tensor {
        self.op("add_t").eval(|op| op.add(a, b))
    }

    /// `a - b`
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    #[track_caller]
    pub fn sub_t(&self, a: &Tensor, b: &Tensor) -> Tensor {
        self.op("sub_t").eval(|op| op.binary(&table::SUB, a, b))
    }

    /// `a · b`, element by element.
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    #[track_caller]
    pub fn mul_t(&self, a: &Tensor, b: &Tensor) -> Tensor {
        self.op("mul_t").eval(|op| op.binary(&table::MUL, a, b))
    }

    /// `a / b`, element by element.
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    #[track_caller]
    pub fn div_t(&self, a: &Tensor, b: &Tensor) -> Tensor {
        self.op("div_t").eval(|op| op.binary(&table::DIV, a, b))
    }

    /// `a · s[0]`, where `s` has one element.
    ///
    /// # Errors
    /// `shape-mismatch` if `s` does not have exactly one element.
    #[track_caller]
    pub fn mul_scalar_t(&self, a: &Tensor, s: &Tensor) -> Tensor {
        self.op("mul_scalar_t").eval(|op| {
            op.inputs(&[a, s])?;
            op.expect("s", s, &[1])?;
            let (len, grid) = cover(a);
            op.run(&table::MUL_SCALAR, Len { len }, [a, s], a.shared_shape(), grid).map(|[y]| y)
        })
    }

    /// `a · s` for a number known on the host; no upload.
    #[track_caller]
    pub fn scale_t(&self, a: &Tensor, s: f32) -> Tensor {
        self.op("scale_t").eval(|op| {
            let (len, grid) = cover(a);
            op.run(&table::SCALE, Scale { len, s }, [a], a.shared_shape(), grid).map(|[y]| y)
        })
    }

    /// `out[i] = a[i] + bias[i % d]` for bias `[d]`: the same row added to every row of `a`.
    ///
    /// # Errors
    /// `shape-mismatch` if `d` does not divide the length of `a`.
    #[track_caller]
    pub fn add_bias_t(&self, a: &Tensor, bias: &Tensor) -> Tensor {
        self.op("add_bias_t").eval(|op| op.add_bias(&table::ADD_BIAS, a, bias))
    }

    /// `out[i] = activation(a[i] + bias[i % d])` for bias `[d]`: a dense layer's bias and activation in one pass.
    ///
    /// # Errors
    /// As [`add_bias_t`](Context::add_bias_t).
    #[track_caller]
    pub fn add_bias_act_t(&self, a: &Tensor, bias: &Tensor, activation: Activation) -> Tensor {
        let kernel = table::ADD_BIAS_ACT.variant(activation as usize);
        self.op("add_bias_act_t").eval(|op| op.add_bias(&kernel, a, bias))
    }

    /// `silu(gate) · up`, element by element, in one pass: the gated unit of Llama's feed-forward layers.
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    #[track_caller]
    pub fn swiglu_t(&self, gate: &Tensor, up: &Tensor) -> Tensor {
        self.op("swiglu_t").eval(|op| op.binary(&table::SWIGLU, gate, up))
    }

    /// `gelu(gate) · up` with the exact GELU, element by element, in one pass.
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    #[track_caller]
    pub fn geglu_t(&self, gate: &Tensor, up: &Tensor) -> Tensor {
        self.op("geglu_t").eval(|op| op.binary(&table::GEGLU, gate, up))
    }

    /// `gelu_tanh(gate) · up` with GELU's tanh form, element by element, in one pass: the gated unit of Gemma.
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    #[track_caller]
    pub fn geglu_tanh_t(&self, gate: &Tensor, up: &Tensor) -> Tensor {
        self.op("geglu_tanh_t").eval(|op| op.binary(&table::GEGLU_TANH, gate, up))
    }
}
