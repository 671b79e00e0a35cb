//! The device ops: each checks its shapes, chooses a kernel and records it. One file a family.

mod attention;
mod elementwise;
mod kv_cache;
mod matmul;
mod movement;
mod norm;
mod rope;
pub(crate) mod warmup;

pub use elementwise::Activation;
pub use kv_cache::KvCache;
pub use warmup::kernels_of;
