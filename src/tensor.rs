//! A shape and a shared handle to a GPU buffer, or the error that kept it from being made.

use std::fmt;
use std::sync::Arc;

use crate::device::{Gpu, Storage};
use crate::dtype::Dtype;
use crate::error::Error;

/// Row-major values on the GPU, f32 or [stored as f16](Dtype). Cheap to clone, immutable.
///
/// The buffer goes back to the context's pool, and in the end to the GPU, when the last handle is gone and the work
/// that uses it is submitted.
///
/// A device op that cannot run gives a *failed* tensor: it carries the [`Error`], every op on it hands the same error
/// on without touching the GPU, and [`Context::to_vec`](crate::Context::to_vec) returns it.
#[derive(Clone)]
pub struct Tensor {
    shape: Arc<[usize]>,
    state: Result<Data, Error>,
}

/// What a sound tensor refers to. Without elements there is no buffer.
#[derive(Clone)]
pub(crate) struct Data {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) storage: Option<Arc<Storage>>,
    pub(crate) dtype: Dtype,
}

impl Tensor {
    pub(crate) fn new(gpu: Arc<Gpu>, storage: Option<Arc<Storage>>, dtype: Dtype, shape: Arc<[usize]>) -> Self {
        Self { shape, state: Ok(Data { gpu, storage, dtype }) }
    }

    pub(crate) fn failed(error: Error) -> Self {
        Self { shape: Arc::new([0]), state: Err(error) }
    }

    pub(crate) fn data(&self) -> Result<&Data, Error> {
        self.state.as_ref().map_err(Clone::clone)
    }

    /// The same buffer under another shape.
    pub(crate) fn reshaped(&self, shape: Arc<[usize]>) -> Self {
        Self { shape, state: self.state.clone() }
    }

    pub(crate) fn shared_shape(&self) -> Arc<[usize]> {
        self.shape.clone()
    }

    /// The size of each dimension, slowest first. `[0]` for a failed tensor.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements, the product of the shape.
    pub fn len(&self) -> usize {
        // A dimension of 0 first: the product of the others may be more than usize holds.
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }

    /// How the values are stored.
    pub fn dtype(&self) -> Dtype {
        self.state.as_ref().map_or(Dtype::F32, |data| data.dtype)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Why the tensor could not be made. `None` for a sound one.
    pub fn error(&self) -> Option<&Error> {
        self.state.as_ref().err()
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error() {
            None if self.dtype() == Dtype::F16 => write!(f, "Tensor{:?} as f16", self.shape),
            None => write!(f, "Tensor{:?}", self.shape),
            Some(error) => write!(f, "Tensor({error:?})"),
        }
    }
}
