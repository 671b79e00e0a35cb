//! Matrix products.

use crate::context::Context;
use crate::error::Result;
use crate::kernel::table::{self, Mm, Mv, Parts};
use crate::kernel::{Grid, Kernel, Params};
use crate::op::Op;
use crate::tensor::Tensor;

/// Rows, or columns, at most for which reading the other factor is the cost.
const FEW: u32 = 8;

/// a [m, k] times b, which is [k, n], or [n, k] where it is transposed.
struct Product<'a> {
    a: &'a Tensor,
    b: &'a Tensor,
    transposed: bool,
    m: u32,
    k: u32,
    n: u32,
    scale: f32,
}

/// What to run: the kernel, its workgroups for each part of k, and the parts.
struct Plan<P: Params> {
    kernel: Kernel<P, 2>,
    groups: u64,
    splits: u64,
}

/// Parts of k, when whole rows and columns alone would leave the device idle.
fn splits(groups: u64, wanted: u64, k: u64, shortest: u64, most: u64) -> u64 {
    wanted.div_ceil(groups).min(k / shortest).clamp(1, most)
}

/// The kernel for many rows and columns. Measured on one H200 in Chromium 156; the counts of workgroups are what its 132
/// multiprocessors need.
fn tiles([m, k, n]: [u64; 3], transposed: bool) -> Plan<Mm> {
    let tiles = |rows: u64, columns: u64| m.div_ceil(rows) * n.div_ceil(columns);
    let family = if transposed { table::MM_BT } else { table::MM };
    let plan = |variant, groups, splits| Plan { kernel: family.variant(variant), groups, splits };
    let (large, medium, small) = (tiles(128, 128), tiles(64, 64), tiles(32, 64));
    // Writing the result is the cost, and no step along k may be longer than k.
    if k <= 8 {
        return plan(table::FLAT, medium, 1);
    }
    // Two large tiles fit a multiprocessor at a time; with much fewer, smaller ones are shared out better.
    if large >= 200 {
        return plan(table::LARGE, large, 1);
    }
    // Each step of a large tile does the most work for what it reads.
    if large >= 16 && m > 64 && k >= 2048 {
        return plan(table::LARGE, large, splits(large, 256, k, 512, 64));
    }
    if medium >= 160 && m > 32 {
        return plan(table::MEDIUM, medium, 1);
    }
    plan(table::SMALL, small, if small < 100 { splits(small, 1024, k, 256, 64) } else { 1 })
}

/// The kernel for few rows; `rows` tells that the other factor lies in rows of k. Reading it is the cost, and the more
/// readers the better.
fn few([few, k, many]: [u64; 3], rows: bool) -> Plan<Mv> {
    let (variant, columns) = match (k, many) {
        (..=8, _) if rows => (table::FEW_FLAT, 128),
        (..=8, _) => (table::FEW_FLAT, 256),
        _ if !rows => (table::FEW, 32),
        // Many short rows: a workgroup for each would mostly add up what its invocations have.
        (..=128, _) | (..512, 8192..) => (table::FEW_SHORT, 16),
        (_, 8193..) if few == 1 => (table::ONE_LONG, 8),
        _ if few == 1 => (table::FEW, 1),
        _ => (table::FEW, 2),
    };
    let one = usize::from(few == 1 && variant != table::ONE_LONG);
    let family = if rows { table::MV_BT } else { table::MV };
    let groups = many.div_ceil(columns);
    Plan { kernel: family.variant(variant + one), groups, splits: splits(groups, 1024, k, 256, 256) }
}

impl Op<'_> {
    fn matmul(&self, product: &Product<'_>) -> Result<Tensor> {
        let Product { a, b, transposed, m, k, n, scale } = *product;
        let shape = [m as usize, n as usize];
        if self.product(&[m, n])? == 0 || k == 0 {
            return self.zeros(&shape);
        }
        if m > FEW && n > FEW {
            let plan = tiles([m, k, n].map(u64::from), transposed);
            return self.in_parts(plan, [a, b], product, |part, splits| Mm { m, k, n, scale, part, splits });
        }
        let mv = |few, many, [a_row, a_k]: [u32; 2], [y_row, y_column]: [u32; 2]| {
            move |part, splits| Mv { few, k, many, scale, part, splits, a_row, a_k, y_row, y_column }
        };
        // b's few columns as rows, unless it is a that has few and both lie in rows of k.
        if n <= FEW && !(transposed && m <= FEW) {
            let plan = few([n, k, m].map(u64::from), true);
            let of_b = if transposed { [k, 1] } else { [1, n] };
            return self.in_parts(plan, [b, a], product, mv(n, m, of_b, [1, n]));
        }
        let plan = few([m, k, n].map(u64::from), transposed);
        self.in_parts(plan, [a, b], product, mv(m, n, [k, 1], [n, 1]))
    }

    /// Runs a kernel on each part of k and adds up what they give.
    fn in_parts<P: Params>(
        &self,
        plan: Plan<P>,
        inputs: [&Tensor; 2],
        &Product { m, k, n, scale, .. }: &Product<'_>,
        params: impl FnOnce(u32, u32) -> P,
    ) -> Result<Tensor> {
        let Plan { kernel, groups, splits } = plan;
        let shape = [m as usize, n as usize];
        let len = u64::from(m) * u64::from(n);
        // A multiple of the steps in which every kernel walks along k.
        let part = u64::from(k).div_ceil(splits).next_multiple_of(32).min(u32::MAX.into()) as u32;
        let splits = k.div_ceil(part);
        let params = params(part, splits);
        let cost = (2 * u128::from(len) * u128::from(k)).min(u64::MAX.into()) as u64;
        let grid = Grid { groups: groups * u64::from(splits), cost };
        if splits == 1 {
            return self.run(&kernel, params, inputs, shape, grid).map(|[y]| y);
        }
        let [parts] = self.run(&kernel, params, inputs, [splits as usize, shape[0], shape[1]], grid)?;
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
            op.matmul(&Product { a, b, transposed: false, m, k, n, scale: 1.0 })
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
            op.matmul(&Product { a, b, transposed: true, m, k, n, scale })
        })
    }
}
