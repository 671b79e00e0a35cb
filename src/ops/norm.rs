//! Row-wise: softmax and norms.

use crate::context::{Context, Op};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernels::{self, LongRows, Rows};
use crate::tensor::Tensor;

/// The kernels of one op: for rows that a workgroup keeps in registers, and for longer ones in two steps, by single
/// values or by vectors of four.
struct Family<const IN: usize, const FINISH: usize> {
    short: Short<IN, 1>,
    /// Numbers that the first step leaves of a part.
    of_part: usize,
    long: [(&'static Kernel<LongRows, 1>, &'static Kernel<LongRows, FINISH>); 2],
}

struct Short<const IN: usize, const OUT: usize> {
    by1: [&'static Kernel<Rows, IN, OUT>; BY1.len()],
    by4: [&'static Kernel<Rows, IN, OUT>; BY4.len()],
}

/// The longest row of each kernel, and the invocations of its workgroup of 256 that share a row: few values each, so that
/// many are on their way.
const BY1: [(u32, u32); 3] = [(128, 8), (1024, 64), (8192, 256)];
const BY4: [(u32, u32); 5] = [(128, 8), (1024, 64), (2048, 128), (4096, 256), (8192, 256)];

static SOFTMAX: Family<1, 2> = Family {
    short: Short {
        by1: [&kernels::SOFTMAX_128, &kernels::SOFTMAX_1024, &kernels::SOFTMAX_8192],
        by4: [
            &kernels::SOFTMAX_128_4,
            &kernels::SOFTMAX_1024_4,
            &kernels::SOFTMAX_2048_4,
            &kernels::SOFTMAX_4096_4,
            &kernels::SOFTMAX_8192_4,
        ],
    },
    of_part: 2,
    long: [
        (&kernels::SOFTMAX_PARTS, &kernels::SOFTMAX_FINISH),
        (&kernels::SOFTMAX_PARTS_4, &kernels::SOFTMAX_FINISH_4),
    ],
};
static RMSNORM: Family<2, 3> = Family {
    short: Short {
        by1: [&kernels::RMSNORM_128, &kernels::RMSNORM_1024, &kernels::RMSNORM_8192],
        by4: [
            &kernels::RMSNORM_128_4,
            &kernels::RMSNORM_1024_4,
            &kernels::RMSNORM_2048_4,
            &kernels::RMSNORM_4096_4,
            &kernels::RMSNORM_8192_4,
        ],
    },
    of_part: 3,
    long: [
        (&kernels::RMSNORM_PARTS, &kernels::RMSNORM_FINISH),
        (&kernels::RMSNORM_PARTS_4, &kernels::RMSNORM_FINISH_4),
    ],
};
static LAYERNORM: Family<3, 4> = Family {
    short: Short {
        by1: [&kernels::LAYERNORM_128, &kernels::LAYERNORM_1024, &kernels::LAYERNORM_8192],
        by4: [
            &kernels::LAYERNORM_128_4,
            &kernels::LAYERNORM_1024_4,
            &kernels::LAYERNORM_2048_4,
            &kernels::LAYERNORM_4096_4,
            &kernels::LAYERNORM_8192_4,
        ],
    },
    of_part: 3,
    long: [
        (&kernels::LAYERNORM_PARTS, &kernels::LAYERNORM_FINISH),
        (&kernels::LAYERNORM_PARTS_4, &kernels::LAYERNORM_FINISH_4),
    ],
};
static ADD_RMSNORM: Short<3, 2> = Short {
    by1: [&kernels::ADD_RMSNORM_128, &kernels::ADD_RMSNORM_1024, &kernels::ADD_RMSNORM_8192],
    by4: [
        &kernels::ADD_RMSNORM_128_4,
        &kernels::ADD_RMSNORM_1024_4,
        &kernels::ADD_RMSNORM_2048_4,
        &kernels::ADD_RMSNORM_4096_4,
        &kernels::ADD_RMSNORM_8192_4,
    ],
};
static ADD_LAYERNORM: Short<4, 2> = Short {
    by1: [&kernels::ADD_LAYERNORM_128, &kernels::ADD_LAYERNORM_1024, &kernels::ADD_LAYERNORM_8192],
    by4: [
        &kernels::ADD_LAYERNORM_128_4,
        &kernels::ADD_LAYERNORM_1024_4,
        &kernels::ADD_LAYERNORM_2048_4,
        &kernels::ADD_LAYERNORM_4096_4,
        &kernels::ADD_LAYERNORM_8192_4,
    ],
};

/// Rows of one call.
#[derive(Clone, Copy)]
struct Size {
    rows: u32,
    d: u32,
    eps: f32,
}

impl Op<'_> {
    /// The kernel that keeps rows of `d` in registers.
    fn short<const IN: usize, const OUT: usize>(
        &self,
        kernels: &Short<IN, OUT>,
        inputs: [&Tensor; IN],
        Size { rows, d, eps }: Size,
    ) -> Option<Result<[Tensor; OUT]>> {
        let by4 = d.is_multiple_of(4);
        let (sizes, kernels): (&[_], &[_]) = if by4 { (&BY4, &kernels.by4) } else { (&BY1, &kernels.by1) };
        let ((_, lanes), kernel) = sizes.iter().zip(kernels).find(|((longest, _), _)| d <= *longest)?;
        let [x, ..] = inputs.as_slice() else { return None };
        let groups = u64::from(rows.div_ceil(256 / lanes));
        let params = Rows { rows, d: if by4 { d / 4 } else { d }, eps };
        Some(self.run_all(kernel, params, inputs, x.shared_shape(), groups, 8 * x.len() as u64))
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
        let (first, last) = family.long[usize::from(d.is_multiple_of(4))];
        let parts = d.div_ceil(kernels::LONG_PART);
        let params = LongRows { rows, d, parts, eps };
        let groups = u64::from(rows) * u64::from(parts);
        let cost = 4 * x.len() as u64;
        let of_parts = [rows as usize, parts as usize, family.of_part].into();
        let of_parts = self.run(first, params, [x], of_parts, groups, cost)?;
        let inputs = std::array::from_fn(|i| match i {
            0 => x,
            1 => &of_parts,
            _ => inputs[i - 1],
        });
        self.run(last, params, inputs, x.shared_shape(), groups, cost)
    }

    /// `x + r`, and its norm in the same pass where rows are short; `inputs` begin with x and r.
    fn add_norm<const IN: usize>(
        &self,
        kernels: &Short<IN, 2>,
        inputs: [&Tensor; IN],
        size: Size,
        norm: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<[Tensor; 2]> {
        self.expect("x", inputs[0], &[size.rows, size.d])?;
        self.expect("r", inputs[1], &[size.rows, size.d])?;
        if let Some(short) = self.short(kernels, inputs, size) {
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
            op.add_norm(&ADD_RMSNORM, [x, r, w], size, |sum| op.rows(&RMSNORM, [sum, w], size))
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
            op.add_norm(&ADD_LAYERNORM, [x, r, w, b], size, |sum| op.rows(&LAYERNORM, [sum, w, b], size))
        })
    }
}
