//! The one place that knows a browser from a native program. Both sides have the same names: adapters, pipelines and
//! command buffers, writes, error scopes, and waiting for the GPU.

mod adapter;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod target;
#[cfg(target_arch = "wasm32")]
mod web;

pub(crate) use adapter::Adapter;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::*;
pub(crate) use target::Target;
#[cfg(target_arch = "wasm32")]
pub(crate) use web::*;
