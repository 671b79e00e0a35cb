//! Tensor computing on WebGPU from one Rust source: the same [`Context`] runs natively and, compiled to wasm32, in the
//! browser as the npm package `tensorweft`. Tensors stay on the GPU, ops only queue work, and one call waits.
//!
//! ```no_run
//! # async fn example() -> tensorweft::Result<()> {
//! let ctx = tensorweft::Context::new().await?;
//! let a = ctx.tensor(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
//! let b = ctx.tensor(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &[3, 2]);
//! let c = ctx.mm(&a, &b, 2, 3, 2);
//! let y = ctx.softmax_t(&c, 2, 2);
//! println!("{:?}", ctx.to_vec(&y).await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Data flow
//! JavaScript → `js`, host arrays → `host`; then `ops` (check shapes, choose a kernel) → `op` (outputs, parameters) →
//! `device` (batch → GPU → readback) → `Vec` or Promise. `kernel` is the closed table of what can run.
//!
//! Imports form no circle. Only `device` and `platform` speak to wgpu, but for the public fields of [`Context`]; only
//! `platform` knows for which target it is built; only `platform::web` and `js` speak JavaScript. `tests/layers.rs`
//! holds the source to all of that.
//!
//! # Shapes and letters
//! All matrices are row-major. `m k n` are the sizes of a product, `rows` and `d` of a row-wise op, `t` new tokens,
//! `s` past keys, `hq` and `hkv` heads of queries and of keys, `dh` the size of a head.
//!
//! # Batching and readback
//! An op records a dispatch. The recorded batch is submitted by a read, by [`Context::flush`], or when it is large.
//! Parameters travel in one uniform buffer, pipelines and bind groups are made once, buffers are pooled by size class.
//!
//! # Errors
//! Device ops never panic and never return `Result`: bad arguments, limits, lack of memory and a lost device give a
//! *failed* [`Tensor`] that carries its [`Error`] through later ops to [`Context::to_vec`]. A fault that the GPU
//! reports later is returned by the reads whose results it spoiled, and by no other. Any op can give `wrong-context`,
//! `limit-exceeded`, `out-of-memory`, `device-lost` and the error of a failed input; its docs name those of its own.
//!
//! # Platforms
//! Vulkan, Metal, DX12 and GL natively; in browsers WebGPU, in pages and in module workers.

#![cfg_attr(
    target_arch = "wasm32",
    allow(clippy::arc_with_non_send_sync, reason = "one source: Arc is needed natively")
)]

mod context;
mod device;
mod dtype;
mod error;
mod event;
mod host;
#[cfg(target_arch = "wasm32")]
mod js;
mod kernel;
mod op;
mod ops;
mod platform;
mod shape;
mod tensor;
mod verdict;

pub use context::Context;
pub use device::{Memory, Stats};
pub use dtype::Dtype;
pub use error::{Error, ErrorKind, Result};
#[doc(hidden)]
pub use ops::kernels_of;
pub use ops::{Activation, KvCache};
pub use tensor::Tensor;

/// The README's example as a doc test.
#[cfg(all(doctest, not(target_arch = "wasm32")))]
#[doc = include_str!("../README.md")]
struct Readme;

/// A pipeline of the kernel table, for tests that compare it with the WGSL.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct KernelInfo {
    pub row: &'static str,
    pub name: String,
    pub source: String,
    pub entry: &'static str,
    pub inputs: u32,
    pub outputs: u32,
    pub params: &'static [(&'static str, u32)],
}

/// Every pipeline that can exist.
#[doc(hidden)]
pub fn kernels() -> Vec<KernelInfo> {
    kernel::Recipe::all()
        .flatten()
        .map(|recipe| KernelInfo {
            row: recipe.desc.name,
            name: recipe.name(),
            source: recipe.source(),
            entry: recipe.desc.entry,
            inputs: recipe.desc.arity.inputs as u32,
            outputs: recipe.desc.arity.outputs as u32,
            params: recipe.desc.fields,
        })
        .collect()
}
