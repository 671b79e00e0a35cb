//! Keys and values that grow on the device.

use std::fmt;

use crate::context::Context;
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Grid;
use crate::kernel::table::{self, CopyAt, Rope};
use crate::op::Op;
use crate::tensor::Tensor;

/// Rows of keys and values that grow on the device, up to a capacity; the rows never move.
///
/// [`k`](KvCache::k) and [`v`](KvCache::v) are all capacity rows: pass [`len`](KvCache::len) as `s` to
/// [`mha_decode_t`](Context::mha_decode_t).
pub struct KvCache {
    context: Context,
    k: Tensor,
    v: Tensor,
    width: usize,
    len: usize,
    capacity: usize,
}

impl Context {
    /// A cache of up to `capacity` rows of `width` keys and as many values, empty at first.
    ///
    /// What keeps it from being made is in [`KvCache::k`] as a failed tensor, and is returned by every append.
    #[track_caller]
    pub fn kv_cache(&self, capacity: usize, width: usize) -> KvCache {
        self.kv_cache_as(capacity, width, Dtype::F32)
    }

    /// As [`kv_cache`](Context::kv_cache), storing keys and values as `dtype`; each append converts while it copies.
    #[track_caller]
    pub fn kv_cache_as(&self, capacity: usize, width: usize, dtype: Dtype) -> KvCache {
        let op = self.op("kv_cache");
        let zeros = || op.eval(|op| op.zeros_as(dtype, &[capacity, width]));
        KvCache { context: self.clone(), k: zeros(), v: zeros(), width, len: 0, capacity }
    }
}

impl KvCache {
    /// Copies the rows of `k` and `v` (each `[t, width]`) behind those that are there.
    ///
    /// # Errors
    /// `index-out-of-range` beyond the capacity, `shape-mismatch`, or the error of a failed tensor: nothing is written.
    #[track_caller]
    pub fn append(&mut self, k: &Tensor, v: &Tensor) -> Result<()> {
        let op = self.context.op("append");
        let write = || {
            let (k, v, rows) = self.rows(&op, k, v)?;
            self.copy(&op, &k, &self.k)?;
            self.copy(&op, &v, &self.v)?;
            Ok(rows)
        };
        self.len += write().map_err(|e| op.locate(e))?;
        Ok(())
    }

    /// As [`append`](KvCache::append), with `k` turned on its way as [`rope_off_t`](Context::rope_off_t) does with `h`
    /// heads and this `base`: each row at the position that it takes in the cache. One pass over both.
    ///
    /// # Errors
    /// As [`append`](KvCache::append), and `invalid-argument` if `h` does not divide the width into heads of even size, or
    /// for a `base` that is not positive: nothing is written.
    #[track_caller]
    pub fn append_rope(&mut self, k: &Tensor, v: &Tensor, h: u32, base: f32) -> Result<()> {
        let op = self.context.op("append_rope");
        self.len += self.write_rope(&op, k, v, h, base).map_err(|e| op.locate(e))?;
        Ok(())
    }

    fn write_rope(&self, op: &Op<'_>, k: &Tensor, v: &Tensor, h: u32, base: f32) -> Result<usize> {
        let (k, v, t) = self.rows(op, k, v)?;
        let dh = match self.width.checked_rem(h as usize) {
            Some(0) => self.width / h as usize,
            _ => return Err(op.argument_error(format!("{h} heads do not divide rows of {}", self.width))),
        };
        let rope = Rope { t: t as u32, h, dh: dh as u32, offset: self.len as u32 };
        if let Some(frequencies) = op.rope_table(&k, base, rope)? {
            if self.k.dtype() == Dtype::F16 {
                self.copy(op, &op.turn(&k, &frequencies, rope)?, &self.k)?;
                self.copy(op, &v, &self.v)?;
                return Ok(t);
            }
            let kernel = table::ROPE_APPEND.variant(rope.variant());
            op.record(&kernel, rope, [&k, &frequencies, &v], [&self.k, &self.v], rope.grid())?;
        }
        Ok(t)
    }

    /// Checks what is to be appended, and gives k and v, neither of them a buffer of this cache, and their number of rows.
    fn rows(&self, op: &Op<'_>, k: &Tensor, v: &Tensor) -> Result<(Tensor, Tensor, usize)> {
        op.inputs(&[&self.k, &self.v, k, v])?;
        let whole = self.width > 0 && k.len().is_multiple_of(self.width) || k.is_empty();
        if k.len() != v.len() || !whole {
            let why = format!("shapes {:?} and {:?} are not rows of {}", k.shape(), v.shape(), self.width);
            return Err(op.shape_error(why));
        }
        let rows = k.len().checked_div(self.width).unwrap_or(0);
        if rows > self.capacity - self.len {
            let why = format!("{rows} rows after {} of a cache of capacity {}", self.len, self.capacity);
            return Err(Error::new(op.name, ErrorKind::IndexOutOfRange(why)));
        }
        Ok((self.apart(op, k)?, self.apart(op, v)?, rows))
    }

    /// `x`, or a copy where it is one of this cache's own buffers: WebGPU cannot bind one buffer for reading and for
    /// writing at once.
    fn apart(&self, op: &Op<'_>, x: &Tensor) -> Result<Tensor> {
        let own = [&self.k, &self.v].into_iter().any(|c| match (&c.data(), &x.data()) {
            (Ok(c), Ok(x)) => matches!((&c.storage, &x.storage), (Some(c), Some(x)) if c.same(x)),
            _ => false,
        });
        if !own {
            return Ok(x.clone());
        }
        let len = x.len() as u64;
        let grid = Grid { groups: len.div_ceil(1024), cost: len };
        op.run(&table::COPY_AT, CopyAt { len: len as u32, at: 0 }, [x], x.shared_shape(), grid).map(|[y]| y)
    }

    fn copy(&self, op: &Op<'_>, from: &Tensor, to: &Tensor) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        op.copy(from, to, (self.len * self.width) as u32)
    }

    /// All `capacity` rows of keys, `[capacity, width]`; those beyond [`len`](KvCache::len) hold anything.
    pub fn k(&self) -> Tensor {
        self.k.clone()
    }

    /// All `capacity` rows of values.
    pub fn v(&self) -> Tensor {
        self.v.clone()
    }

    /// Rows that count.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no row counts.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Rows at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Forgets the rows from `len` on; a longer `len` changes nothing.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl fmt::Debug for KvCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KvCache({} of {} rows of {})", self.len, self.capacity, self.width)
    }
}
