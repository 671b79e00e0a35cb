//! Sizes: products that cannot overflow, and the sentences for those that do not fit.

use crate::error::{Error, ErrorKind, Result};

/// Elements at most: kernels count them in u32.
const LEN_MAX: u64 = u32::MAX as u64;

/// The number of elements of a shape.
pub(crate) fn product(op: &'static str, sizes: &[u64]) -> Result<u64> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let len = sizes.iter().try_fold(1u64, |len, size| len.checked_mul(*size)).unwrap_or(u64::MAX);
    if len > LEN_MAX {
        let what = format!("elements of shape {sizes:?}");
        return Err(Error::new(op, ErrorKind::LimitExceeded { what, wanted: len, limit: LEN_MAX }));
    }
    Ok(len)
}

/// The number of elements of a tensor's shape.
pub(crate) fn len(op: &'static str, shape: &[usize]) -> Result<u64> {
    let sizes: Vec<u64> = shape.iter().map(|s| *s as u64).collect();
    product(op, &sizes)
}
