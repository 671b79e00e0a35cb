//! Matrix products.

use crate::context::{Context, Op};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernels::{self, Mm, Parts};
use crate::tensor::Tensor;

/// The kernels of one layout of b.
struct Family {
    large: &'static Kernel<Mm, 2>,
    medium: &'static Kernel<Mm, 2>,
    wide: &'static Kernel<Mm, 2>,
    /// For up to 8 rows, and columns of a workgroup: any b, and one whose rows are whole vectors of four.
    few: [(&'static Kernel<Mm, 2>, u64); 2],
    /// The same for one row.
    one: [(&'static Kernel<Mm, 2>, u64); 2],
}

static B_KN: Family = Family {
    large: &kernels::MM_LARGE,
    medium: &kernels::MM_MEDIUM,
    wide: &kernels::MM_WIDE,
    few: [(&kernels::MV_8, 32), (&kernels::MV4_8, 128)],
    one: [(&kernels::MV_1, 32), (&kernels::MV4_1, 128)],
};

static B_NK: Family = Family {
    large: &kernels::MM_BT_LARGE,
    medium: &kernels::MM_BT_MEDIUM,
    wide: &kernels::MM_BT_WIDE,
    few: [(&kernels::MV_BT_8, 2), (&kernels::MV_BT4_8, 2)],
    one: [(&kernels::MV_BT_1, 4), (&kernels::MV_BT4_1, 4)],
};

/// What to run: the kernel, its workgroups for each part of k, and the parts.
struct Plan {
    kernel: &'static Kernel<Mm, 2>,
    groups: u64,
    splits: u64,
}

impl Family {
    /// `row` is the length of a row of b. Measured on one H200 in Chromium 156; the counts of workgroups are what its 132 multiprocessors need.
    fn plan(&self, m: u64, k: u64, n: u64, row: u32) -> Plan {
        let tiles = |rows: u64, cols: u64| m.div_ceil(rows) * n.div_ceil(cols);
        // Parts of k, when whole rows and columns alone would leave the device idle.
        let splits = |groups: u64, wanted: u64, shortest: u64| wanted.div_ceil(groups).min(k / shortest).clamp(1, 64);
        let plan = |kernel, groups, splits| Plan { kernel, groups, splits };
        if m <= 8 {
            // Reading b is the cost, and the more readers the better.
            let kernels = if m == 1 { self.one } else { self.few };
            let (kernel, columns) = kernels[usize::from(row.is_multiple_of(4))];
            let groups = n.div_ceil(columns);
            return plan(kernel, groups, splits(groups, 1024, 256));
        }
        let (large, medium, wide) = (tiles(128, 128), tiles(64, 64), tiles(32, 64));
        if large >= 128 {
            return plan(self.large, large, 1);
        }
        // Each step of a large tile does the most work for what it reads.
        if large >= 16 && m > 64 && k >= 2048 {
            return plan(self.large, large, splits(large, 256, 512));
        }
        if medium >= 160 && m > 32 {
            return plan(self.medium, medium, 1);
        }
        plan(self.wide, wide, if wide < 100 { splits(wide, 1024, 256) } else { 1 })
    }
}

impl Op<'_> {
    fn matmul(
        &self,
        family: &Family,
        a: &Tensor,
        b: &Tensor,
        [m, k, n]: [u32; 3],
        row: u32,
        scale: f32,
    ) -> Result<Tensor> {
        let shape = [m as usize, n as usize];
        let len = self.product(&[m, n])?;
        if k == 0 || len == 0 {
            return self.zeros(&shape);
        }
        let Plan { kernel, groups, splits } = family.plan(m.into(), k.into(), n.into(), row);
        // Whole steps of every kernel.
        let part = u64::from(k).div_ceil(splits).next_multiple_of(32).min(u32::MAX.into()) as u32;
        let splits = k.div_ceil(part);
        let params = Mm { m, k, n, scale, part, splits };
        let cost = (2 * u128::from(len) * u128::from(k)).min(u64::MAX.into()) as u64;
        let groups = groups * u64::from(splits);
        if splits == 1 {
            return self.run(kernel, params, [a, b], shape.into(), groups, cost);
        }
        let parts = self.run(kernel, params, [a, b], [splits as usize, shape[0], shape[1]].into(), groups, cost)?;
        let params = Parts { len: len as u32, splits, scale };
        self.run(&kernels::SUM_PARTS, params, [&parts], shape.into(), len.div_ceil(32), len * u64::from(splits))
    }

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
            op.matmul(&B_KN, a, b, [m, k, n], n, 1.0)
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
            op.matmul(&B_NK, a, b, [m, k, n], k, scale)
        })
    }
}
