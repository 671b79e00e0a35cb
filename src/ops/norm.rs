//! Row-wise: softmax and norms.

use crate::context::{Context, Op};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernels::{self, Rows};
use crate::tensor::Tensor;

/// The kernels of one op, and the invocations of the workgroup of 256 that share a row in each: for rows of up to 128,
/// 512, 2048, 4096 and 8192, which they keep in registers, and for longer ones, which they read again.
type Family<const IN: usize> = [&'static Kernel<Rows, IN>; 6];
const LONGEST: [(u32, u32); 5] = [(128, 8), (512, 32), (2048, 128), (4096, 256), (8192, 256)];

static SOFTMAX: Family<1> = [
    &kernels::SOFTMAX_128,
    &kernels::SOFTMAX_512,
    &kernels::SOFTMAX_2048,
    &kernels::SOFTMAX_4096,
    &kernels::SOFTMAX_8192,
    &kernels::SOFTMAX_LONG,
];
static RMSNORM: Family<2> = [
    &kernels::RMSNORM_128,
    &kernels::RMSNORM_512,
    &kernels::RMSNORM_2048,
    &kernels::RMSNORM_4096,
    &kernels::RMSNORM_8192,
    &kernels::RMSNORM_LONG,
];
static LAYERNORM: Family<3> = [
    &kernels::LAYERNORM_128,
    &kernels::LAYERNORM_512,
    &kernels::LAYERNORM_2048,
    &kernels::LAYERNORM_4096,
    &kernels::LAYERNORM_8192,
    &kernels::LAYERNORM_LONG,
];

impl Op<'_> {
    fn rows<const IN: usize>(
        &self,
        family: &Family<IN>,
        x: &Tensor,
        inputs: [&Tensor; IN],
        rows: u32,
        d: u32,
        eps: f32,
    ) -> Result<Tensor> {
        self.expect("x", x, &[rows, d])?;
        let size = LONGEST.iter().position(|(longest, _)| d <= *longest).unwrap_or(LONGEST.len());
        let lanes = LONGEST.get(size).map_or(256, |(_, lanes)| *lanes);
        let groups = u64::from(rows.div_ceil(256 / lanes));
        self.run(family[size], Rows { rows, d, eps }, inputs, x.shared_shape(), groups, 8 * x.len() as u64)
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
            op.rows(&SOFTMAX, x, [x], rows, d, 0.0)
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
            op.rows(&RMSNORM, x, [x, w], rows, d, eps)
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
            op.rows(&LAYERNORM, x, [x, w, b], rows, d, eps)
        })
    }
}
