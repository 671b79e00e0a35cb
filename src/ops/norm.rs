//! Row-wise: softmax and norms.

use crate::context::{Context, Op};
use crate::error::Result;
use crate::kernels::{self, Rows};
use crate::tensor::Tensor;

impl Op<'_> {
    /// Rows of up to 256 share a workgroup of 256 invocations, longer ones have it to themselves.
    fn rows(&self, x: &Tensor, rows: u32, d: u32, eps: f32) -> Result<(Rows, u64, u64)> {
        self.expect("x", x, &[rows, d])?;
        let lanes = d.clamp(1, 256).next_power_of_two();
        let groups = u64::from(rows.div_ceil(256 / lanes));
        Ok((Rows { rows, d, lanes, eps }, groups, 8 * x.len() as u64))
    }
}

/// # Softmax and norms
///
/// Over rows of `d` values, in f32, for any row length. Results have the shape of `x`. NaN spoils its own row alone.
impl Context {
    /// `eˣ / Σ eˣ` for each row: x `[rows, d]`
    ///
    /// `-inf` weighs nothing; a row of nothing else is zeros.
    ///
    /// # Errors
    /// `shape-mismatch` if `x` does not hold rows·d elements.
    #[track_caller]
    pub fn softmax_t(&self, x: &Tensor, rows: u32, d: u32) -> Tensor {
        self.op("softmax_t").eval(|op| {
            op.inputs(&[x])?;
            let (params, groups, cost) = op.rows(x, rows, d, 0.0)?;
            op.run(&kernels::SOFTMAX, params, [x], x.shared_shape(), groups, cost)
        })
    }

    /// `x / √(mean(x²) + eps) · w` for each row: x `[rows, d]`, w `[d]`
    ///
    /// # Errors
    /// `shape-mismatch` if `x` does not hold rows·d elements or `w` d.
    #[track_caller]
    pub fn rmsnorm_t(&self, x: &Tensor, w: &Tensor, rows: u32, d: u32, eps: f32) -> Tensor {
        self.op("rmsnorm_t").eval(|op| {
            op.inputs(&[x, w])?;
            op.expect("w", w, &[d])?;
            let (params, groups, cost) = op.rows(x, rows, d, eps)?;
            op.run(&kernels::RMSNORM, params, [x, w], x.shared_shape(), groups, cost)
        })
    }

    /// `(x - mean) / √(mean((x - mean)²) + eps) · w + b` for each row: x `[rows, d]`, w and b `[d]`
    ///
    /// # Errors
    /// `shape-mismatch` if `x` does not hold rows·d elements, or `w` or `b` d.
    #[track_caller]
    pub fn layernorm_t(&self, x: &Tensor, w: &Tensor, b: &Tensor, rows: u32, d: u32, eps: f32) -> Tensor {
        self.op("layernorm_t").eval(|op| {
            op.inputs(&[x, w, b])?;
            op.expect("w", w, &[d])?;
            op.expect("b", b, &[d])?;
            let (params, groups, cost) = op.rows(x, rows, d, eps)?;
            op.run(&kernels::LAYERNORM, params, [x, w, b], x.shared_shape(), groups, cost)
        })
    }
}
