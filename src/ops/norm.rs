//! Row-wise: softmax and norms.

use crate::context::{Context, Op};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernels::{self, Rows};
use crate::tensor::Tensor;

/// Values of a row that an invocation keeps in registers, and invocations of a workgroup.
const KEPT: u32 = 16;
const LANES: u32 = 256;

impl Op<'_> {
    /// The kernel for rows of `d`: short ones share a workgroup and stay in registers, long ones have it to themselves.
    fn rows<const IN: usize>(
        &self,
        [short, long]: [&Kernel<Rows, IN>; 2],
        x: &Tensor,
        inputs: [&Tensor; IN],
        rows: u32,
        d: u32,
        eps: f32,
    ) -> Result<Tensor> {
        self.expect("x", x, &[rows, d])?;
        // Half of what fits, so that neighbouring invocations read neighbouring values of short rows too.
        let lanes = d.div_ceil(KEPT / 2).clamp(1, LANES).next_power_of_two();
        let (kernel, lanes) = if d <= KEPT * lanes { (short, lanes) } else { (long, LANES) };
        let groups = u64::from(rows.div_ceil(LANES / lanes));
        self.run(kernel, Rows { rows, d, lanes, eps }, inputs, x.shared_shape(), groups, 8 * x.len() as u64)
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
            op.rows([&kernels::SOFTMAX, &kernels::SOFTMAX_LONG], x, [x], rows, d, 0.0)
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
            op.rows([&kernels::RMSNORM, &kernels::RMSNORM_LONG], x, [x, w], rows, d, eps)
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
            op.rows([&kernels::LAYERNORM, &kernels::LAYERNORM_LONG], x, [x, w, b], rows, d, eps)
        })
    }
}
