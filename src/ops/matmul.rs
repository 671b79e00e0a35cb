//! Matrix products.

use crate::context::Context;
use crate::error::Result;
use crate::kernel::table::{self, Mm, Parts};
use crate::kernel::{Grid, Kernel};
use crate::op::Op;
use crate::tensor::Tensor;

/// The kernels of one layout of b.
struct Family {
    tiles: Kernel<Mm, 2>,
    few: Kernel<Mm, 2>,
    /// For one row and many columns.
    one_long: usize,
    /// Columns of a workgroup for few rows, for one row, and for one row and many columns.
    columns: [u64; 3],
}

const B_KN: Family = Family { tiles: table::MM, few: table::MV, one_long: table::ONE_ROW, columns: [32, 32, 32] };
const B_NK: Family =
    Family { tiles: table::MM_BT, few: table::MV_BT, one_long: table::ONE_ROW_LONG, columns: [2, 1, 8] };

/// What to run: the kernel, its workgroups for each part of k, and the parts.
struct Plan {
    kernel: Kernel<Mm, 2>,
    groups: u64,
    splits: u64,
}

impl Family {
    /// Measured on one H200 in Chromium 156; the counts of workgroups are what its 132 multiprocessors need.
    fn plan(&self, m: u64, k: u64, n: u64) -> Plan {
        let tiles = |rows: u64, cols: u64| m.div_ceil(rows) * n.div_ceil(cols);
        // Parts of k, when whole rows and columns alone would leave the device idle.
        let splits = |groups: u64, wanted: u64, shortest: u64| wanted.div_ceil(groups).min(k / shortest).clamp(1, 64);
        let plan =
            |kernel: &Kernel<Mm, 2>, variant, groups, splits| Plan { kernel: kernel.variant(variant), groups, splits };
        if m <= 8 {
            // Reading b is the cost, and the more readers the better.
            let [few, one, one_long] = self.columns;
            let (variant, columns) = match m {
                1 if n > 8192 => (self.one_long, one_long),
                1 => (table::ONE_ROW, one),
                _ => (table::FEW_ROWS, few),
            };
            let groups = n.div_ceil(columns);
            return plan(&self.few, variant, groups, splits(groups, 1024, 256));
        }
        let (large, medium, small) = (tiles(128, 128), tiles(64, 64), tiles(32, 64));
        // Two large tiles fit a multiprocessor at a time; with much fewer, smaller ones are shared out better.
        if large >= 200 {
            return plan(&self.tiles, table::LARGE, large, 1);
        }
        // Each step of a large tile does the most work for what it reads.
        if large >= 16 && m > 64 && k >= 2048 {
            return plan(&self.tiles, table::LARGE, large, splits(large, 256, 512));
        }
        if medium >= 160 && m > 32 {
            return plan(&self.tiles, table::MEDIUM, medium, 1);
        }
        plan(&self.tiles, table::SMALL, small, if small < 100 { splits(small, 1024, 256) } else { 1 })
    }
}

impl Op<'_> {
    fn matmul(&self, family: &Family, a: &Tensor, b: &Tensor, [m, k, n]: [u32; 3], scale: f32) -> Result<Tensor> {
        let shape = [m as usize, n as usize];
        let len = self.product(&[m, n])?;
        if k == 0 || len == 0 {
            return self.zeros(&shape);
        }
        let Plan { kernel, groups, splits } = family.plan(m.into(), k.into(), n.into());
        // A multiple of the steps in which every kernel walks along k.
        let part = u64::from(k).div_ceil(splits).next_multiple_of(32).min(u32::MAX.into()) as u32;
        let splits = k.div_ceil(part);
        let params = Mm { m, k, n, scale, part, splits };
        let cost = (2 * u128::from(len) * u128::from(k)).min(u64::MAX.into()) as u64;
        let grid = Grid { groups: groups * u64::from(splits), cost };
        if splits == 1 {
            return self.run(&kernel, params, [a, b], shape, grid).map(|[y]| y);
        }
        let [parts] = self.run(&kernel, params, [a, b], [splits as usize, shape[0], shape[1]], grid)?;
        let params = Parts { len: len as u32, splits, scale };
        let grid = Grid { groups: len.div_ceil(32), cost: len * u64::from(splits) };
        self.run(&table::SUM_PARTS, params, [&parts], shape, grid).map(|[y]| y)
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
            op.matmul(&B_KN, a, b, [m, k, n], 1.0)
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
            op.matmul(&B_NK, a, b, [m, k, n], scale)
        })
    }
}
