//! One GPU device: records work, submits it in batches, reads it back. Knows buffers and kernels, not tensors or ops.
//!
//! [`gpu`] is the device with its recorder; what can be done with it lies in files of their own: [`storage`] makes
//! buffers, [`dispatch`] records kernels, [`readback`] reads, [`compile`] warms up.

mod adapter;
mod batch;
mod bindings;
mod compile;
mod counts;
mod dispatch;
mod gpu;
mod pipelines;
mod pool;
mod readback;
mod staging;
mod storage;

pub use counts::{Memory, Stats};
pub(crate) use gpu::Gpu;
pub(crate) use readback::Pending;
pub(crate) use storage::Storage;
