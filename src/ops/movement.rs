//! Moving values: new shapes, rows by number, transposes.

use std::sync::Arc;

use crate::context::Context;
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind};
use crate::kernel::Grid;
use crate::kernel::table::{self, Gather, Matrix, Thin};
use crate::platform::Target;
use crate::shape;
use crate::tensor::Tensor;

/// # Moving values
impl Context {
    /// The same values under a new shape; nothing is copied.
    ///
    /// # Errors
    /// `shape-mismatch` if the new shape has another number of elements.
    #[track_caller]
    pub fn dup(&self, x: &Tensor, shape: Vec<usize>) -> Tensor {
        self.op("dup").eval(|op| {
            op.inputs(&[x])?;
            if shape::len(op.name, &shape)? != x.len() as u64 {
                let why = format!("shape {:?} cannot be seen as {shape:?}: the numbers of elements differ", x.shape());
                return Err(op.shape_error(why));
            }
            Ok(x.reshaped(shape.into()))
        })
    }

    /// `out[i, :] = data[idx[i], :]`: data `[v, d]`, idx `[n]` → `[n, d]`
    ///
    /// # Errors
    /// `shape-mismatch` if `d` does not divide `data` into rows; `index-out-of-range` for a row that is not there.
    #[track_caller]
    pub fn gather0(&self, data: &Tensor, idx: &[u32], d: usize) -> Tensor {
        self.op("gather0").eval(|op| {
            op.inputs(&[data])?;
            let rows = match d {
                0 if data.is_empty() => usize::MAX,
                0 => return Err(op.shape_error(format!("rows of 0 elements in a table of shape {:?}", data.shape()))),
                _ if !data.len().is_multiple_of(d) => {
                    return Err(op.shape_error(format!("shape {:?} has no whole rows of {d}", data.shape())));
                }
                _ => data.len() / d,
            };
            if let Some(bad) = idx.iter().find(|i| **i as usize >= rows) {
                let why = format!("row {bad} of a table of {rows} rows (shape {:?})", data.shape());
                return Err(Error::new(op.name, ErrorKind::IndexOutOfRange(why)));
            }
            let shape: Arc<[usize]> = [idx.len(), d].into();
            let len = shape::len(op.name, &shape)?;
            if len == 0 {
                return op.zeros(&shape);
            }
            let words = |to: Target<'_>| to.write(bytemuck::cast_slice(idx));
            let ids = op.upload(idx.len() as u64, Dtype::F32, &[idx.len()], words)?;
            let (kernel, width, each) = match d.is_multiple_of(4) {
                true => (table::GATHER.variant(table::WIDE), 4, table::GATHER_VECTORS),
                false => (table::GATHER, 1, table::GATHER_VALUES),
            };
            let d = d as u32 / width;
            let params = Gather { n: idx.len() as u32, d, down: 256 / d, across: 256 % d };
            let grid = Grid { groups: len.div_ceil(u64::from(256 * each * width)), cost: len };
            op.run(&kernel, params, [&ids, data], shape, grid).map(|[y]| y)
        })
    }

    /// `xᵀ`: x `[rows, cols]` → `[cols, rows]`. With one row or column nothing is copied, as in [`dup`](Context::dup).
    ///
    /// # Errors
    /// `shape-mismatch` if `x` does not hold rows·cols elements.
    #[track_caller]
    pub fn transpose2d_t(&self, x: &Tensor, rows: u32, cols: u32) -> Tensor {
        self.op("transpose2d_t").eval(|op| {
            op.inputs(&[x])?;
            op.expect("x", x, &[rows, cols])?;
            let shape = [cols as usize, rows as usize];
            let cost = x.len() as u64;
            let (thin, long) = (rows.min(cols), rows.max(cols));
            if thin <= 1 {
                return Ok(op.cast(x, Dtype::F32)?.reshaped(shape.into()));
            }
            if thin <= table::THIN {
                let length = table::thin_length(thin);
                let params = Thin { long, thin, length, tall: u32::from(thin == cols) };
                let grid = Grid { groups: long.div_ceil(length).into(), cost };
                return op.run(&table::TRANSPOSE_THIN, params, [x], shape, grid).map(|[y]| y);
            }
            let whole = rows.is_multiple_of(4) && cols.is_multiple_of(4);
            let kernel = if whole { table::TRANSPOSE_4 } else { table::TRANSPOSE };
            let groups = u64::from(rows.div_ceil(64)) * u64::from(cols.div_ceil(64));
            op.run(&kernel, Matrix { rows, cols }, [x], shape, Grid { groups, cost }).map(|[y]| y)
        })
    }
}
