//! Row-wise: softmax and norms.

use crate::context::Context;
use crate::error::Result;
use crate::kernel::table::{self, LongRows, ROW_SIZES, Rows};
use crate::kernel::{Grid, Kernel};
use crate::op::Op;
use crate::tensor::Tensor;

/// The kernels of one op: for rows that a workgroup keeps in registers, and for longer ones in two steps.
struct Family<const IN: usize, const FINISH: usize> {
    short: Kernel<Rows, IN>,
    parts: Kernel<LongRows, 1>,
    /// Numbers that the first step leaves of a part.
    of_part: usize,
    finish: Kernel<LongRows, FINISH>,
}

const SOFTMAX: Family<1, 2> =
    Family { short: table::SOFTMAX, parts: table::SOFTMAX_PARTS, of_part: 2, finish: table::SOFTMAX_FINISH };
const RMSNORM: Family<2, 3> =
    Family { short: table::RMSNORM, parts: table::RMSNORM_PARTS, of_part: 3, finish: table::RMSNORM_FINISH };
const LAYERNORM: Family<3, 4> =
    Family { short: table::LAYERNORM, parts: table::LAYERNORM_PARTS, of_part: 3, finish: table::LAYERNORM_FINISH };

/// Rows of one call.
#[derive(Clone, Copy)]
struct Size {
    rows: u32,
    d: u32,
    eps: f32,
}

impl Op<'_> {
    /// The results of the kernel that keeps rows in registers; `None` if none of its variants keeps so many.
    fn short<const IN: usize, const OUT: usize>(
        &self,
        kernel: &Kernel<Rows, IN, OUT>,
        inputs: [&Tensor; IN],
        Size { rows, d, eps }: Size,
    ) -> Option<Result<[Tensor; OUT]>> {
        let wide = d.is_multiple_of(4);
        let fits = |size: &table::RowSize| size.wide == wide && d <= size.longest;
        let i = ROW_SIZES.iter().position(fits)?;
        let [x, ..] = inputs.as_slice() else { return None };
        let groups = u64::from(rows.div_ceil(256 / ROW_SIZES[i].lanes));
        let params = Rows { rows, d: if wide { d / 4 } else { d }, eps };
        let grid = Grid { groups, cost: 8 * x.len() as u64 };
        Some(self.run(&kernel.variant(i), params, inputs, x.shared_shape(), grid))
    }

    /// Rows of any length; `inputs` begin with x. The second step of long rows takes what the first left behind x.
    fn rows<const IN: usize, const FINISH: usize>(
        &self,
        family: &Family<IN, FINISH>,
        inputs: [&Tensor; IN],
        size: Size,
    ) -> Result<Tensor> {
        let Size { rows, d, eps } = size;
        let x = inputs[0];
        self.expect("x", x, &[rows, d])?;
        if let Some(short) = self.short(&family.short, inputs, size) {
            return short.map(|[y]| y);
        }
        let variant = if d.is_multiple_of(4) { table::WIDE } else { 0 };
        let parts = d.div_ceil(table::LONG_PART);
        let params = LongRows { rows, d, parts, eps };
        let grid = Grid { groups: u64::from(rows) * u64::from(parts), cost: 4 * x.len() as u64 };
        let shape = [rows as usize, parts as usize, family.of_part];
        let [of_parts] = self.run(&family.parts.variant(variant), params, [x], shape, grid)?;
        let inputs = std::array::from_fn(|i| match i {
            0 => x,
            1 => &of_parts,
            _ => inputs[i - 1],
        });
        self.run(&family.finish.variant(variant), params, inputs, x.shared_shape(), grid).map(|[y]| y)
    }

    /// `x + r`, and its norm in the same pass where rows are short; `inputs` begin with x and r.
    fn add_norm<const IN: usize>(
        &self,
        kernel: &Kernel<Rows, IN, 2>,
        inputs: [&Tensor; IN],
        size: Size,
        norm: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<[Tensor; 2]> {
        self.expect("x", inputs[0], &[size.rows, size.d])?;
        self.expect("r", inputs[1], &[size.rows, size.d])?;
        if let Some(short) = self.short(kernel, inputs, size) {
            return short;
        }
        let sum = self.add(inputs[0], inputs[1])?;
        let normed = norm(&sum)?;
        Ok([sum, normed])
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
            op.rows(&SOFTMAX, [x], Size { rows, d, eps: 0.0 })
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
            op.rows(&RMSNORM, [x, w], Size { rows, d, eps })
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
            op.rows(&LAYERNORM, [x, w, b], Size { rows, d, eps })
        })
    }

    /// A residual and the norm behind it: `sum = x + r`, and `sum / √(mean(sum²) + eps) · w` for each row. x and r
    /// `[rows, d]`, w `[d]` → `(sum, normed)`. In one pass for rows of up to 8,192.
    ///
    /// # Errors
    /// `shape-mismatch` if `x` or `r` does not hold rows·d elements or `w` d. Both results fail together.
    #[track_caller]
    pub fn add_rmsnorm_t(&self, x: &Tensor, r: &Tensor, w: &Tensor, rows: u32, d: u32, eps: f32) -> (Tensor, Tensor) {
        self.op("add_rmsnorm_t").eval_pair(|op| {
            op.inputs(&[x, r, w])?;
            op.expect("w", w, &[d])?;
            let size = Size { rows, d, eps };
            op.add_norm(&table::ADD_RMSNORM, [x, r, w], size, |sum| op.rows(&RMSNORM, [sum, w], size))
        })
    }

    /// A residual and the norm behind it: `sum = x + r`, and `(sum - mean) / √(mean((sum - mean)²) + eps) · w + b` for
    /// each row. x and r `[rows, d]`, w and b `[d]` → `(sum, normed)`. In one pass for rows of up to 8,192.
    ///
    /// # Errors
    /// `shape-mismatch` if `x` or `r` does not hold rows·d elements, or `w` or `b` d. Both results fail together.
    #[track_caller]
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    pub fn add_layernorm_t(
        &self,
        x: &Tensor,
        r: &Tensor,
        w: &Tensor,
        b: &Tensor,
        rows: u32,
        d: u32,
        eps: f32,
    ) -> (Tensor, Tensor) {
        self.op("add_layernorm_t").eval_pair(|op| {
            op.inputs(&[x, r, w, b])?;
            op.expect("w", w, &[d])?;
            op.expect("b", b, &[d])?;
            let size = Size { rows, d, eps };
            op.add_norm(&table::ADD_LAYERNORM, [x, r, w, b], size, |sum| op.rows(&LAYERNORM, [sum, w, b], size))
        })
    }
}
