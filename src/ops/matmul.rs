//! Matrix products.

use crate::context::{Context, Op};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernels::{self, Mm};
use crate::tensor::Tensor;

/// Up to so many rows of `a`, reading `b` is the cost, and the matrix-vector kernels read it once.
const FEW_ROWS: u32 = 8;
/// Rows and columns of a tile, and columns of a matrix-vector workgroup.
const TILE: u64 = 64;
const MV_COLUMNS: u64 = 8;

impl Op<'_> {
    fn product_of(&self, tiled: &Kernel<Mm, 2>, few: &Kernel<Mm, 2>, a: &Tensor, b: &Tensor, mm: Mm) -> Result<Tensor> {
        let Mm { m, k, n, .. } = mm;
        let shape = [m as usize, n as usize];
        self.product(&[m, n])?;
        if k == 0 {
            return self.zeros(&shape);
        }
        let (m, n) = (u64::from(m), u64::from(n));
        let cost = (2 * u128::from(m * n) * u128::from(k)).min(u128::from(u64::MAX)) as u64;
        let (kernel, groups) = if m <= u64::from(FEW_ROWS) {
            (few, n.div_ceil(MV_COLUMNS))
        } else {
            (tiled, m.div_ceil(TILE) * n.div_ceil(TILE))
        };
        self.run(kernel, mm, [a, b], shape.into(), groups, cost)
    }
}

/// # Matrix products
///
/// Accumulated in f32. A product over k = 0 is zeros.
impl Context {
    /// `A · B`: a `[m, k]`, b `[k, n]` → `[m, n]`
    ///
    /// # Errors
    /// `shape-mismatch` if `a` does not hold m·k elements or `b` k·n.
    #[track_caller]
    pub fn mm(&self, a: &Tensor, b: &Tensor, m: u32, k: u32, n: u32) -> Tensor {
        self.op("mm").eval(|op| {
            op.inputs(&[a, b])?;
            op.expect_pair(a, b, [m, k], [k, n])?;
            op.product_of(&kernels::MM, &kernels::MV, a, b, Mm { m, k, n, scale: 1.0 })
        })
    }

    /// `scale · A · Bᵀ`: a `[m, k]`, b `[n, k]` → `[m, n]`
    ///
    /// # Errors
    /// `shape-mismatch` if `a` does not hold m·k elements or `b` n·k.
    #[track_caller]
    pub fn mm_bt(&self, a: &Tensor, b: &Tensor, m: u32, n: u32, k: u32, scale: f32) -> Tensor {
        self.op("mm_bt").eval(|op| {
            op.inputs(&[a, b])?;
            op.expect_pair(a, b, [m, k], [n, k])?;
            op.product_of(&kernels::MM_BT, &kernels::MV_BT, a, b, Mm { m, k, n, scale })
        })
    }
}

impl Op<'_> {
    /// Checks both factors, naming both shapes.
    fn expect_pair(&self, a: &Tensor, b: &Tensor, a_sizes: [u32; 2], b_sizes: [u32; 2]) -> Result<()> {
        let fits = |t: &Tensor, [r, c]: [u32; 2]| t.len() as u64 == u64::from(r) * u64::from(c);
        if fits(a, a_sizes) && fits(b, b_sizes) {
            return Ok(());
        }
        Err(self.shape_error(format!(
            "shapes {:?} and {:?} do not hold matrices of {a_sizes:?} and {b_sizes:?}",
            a.shape(),
            b.shape()
        )))
    }
}
