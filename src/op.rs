//! One call of an op: its checks, its outputs, and the kernels that it records.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{Gpu, Storage};
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::table::{self, CopyAt, Len};
use crate::kernel::{Grid, INPUTS_MAX, Kernel, Params};
use crate::platform::{LOCATIONS, Target};
use crate::shape;
use crate::tensor::{Data, Tensor};
use crate::verdict::Origin;

/// Small constant tensors of a context, made once for each key: the frequencies of rotary embeddings by base and head
/// size.
#[derive(Default)]
pub(crate) struct Tables(Mutex<HashMap<(u32, u32), Tensor>>);

impl Tables {
    fn get(&self, key: (u32, u32), make: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that the GPU had no memory for is made again.
        let sound = |t: &&Tensor| t.data().is_ok_and(|d| d.storage.as_ref().is_none_or(|s| !s.failed()));
        if let Some(table) = tables.get(&key).filter(sound) {
            return Ok(table.clone());
        }
        let table = make()?;
        tables.insert(key, table.clone());
        Ok(table)
    }

    /// What `f` makes of the number of tables and their bytes, while none is added.
    pub(crate) fn held<T>(&self, f: impl FnOnce(usize, u64) -> T) -> T {
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let storages = tables.values().filter_map(|t| t.data().ok()?.storage.as_ref());
        let (count, bytes) = storages.fold((0, 0), |(count, bytes), s| (count + 1, bytes + s.bytes()));
        f(count, bytes)
    }
}

/// One call of an op: its name for errors, its caller, and what it may do.
pub(crate) struct Op<'a> {
    gpu: &'a Arc<Gpu>,
    tables: &'a Tables,
    pub(crate) name: &'static str,
    at: &'static Location<'static>,
}

/// # Errors
impl<'a> Op<'a> {
    pub(crate) fn new(
        gpu: &'a Arc<Gpu>,
        tables: &'a Tables,
        name: &'static str,
        at: &'static Location<'static>,
    ) -> Self {
        Self { gpu, tables, name, at }
    }

    /// Runs the op's checks and recording; an error becomes a failed tensor.
    pub(crate) fn eval(&self, f: impl FnOnce(&Self) -> Result<Tensor>) -> Tensor {
        f(self).unwrap_or_else(|error| Tensor::failed(self.locate(error)))
    }

    /// As `eval` for two results, which fail together.
    pub(crate) fn eval_pair(&self, f: impl FnOnce(&Self) -> Result<[Tensor; 2]>) -> (Tensor, Tensor) {
        let [a, b] = f(self).unwrap_or_else(|error| {
            let failed = Tensor::failed(self.locate(error));
            [failed.clone(), failed]
        });
        (a, b)
    }

    /// The error with the caller's line, where lines are kept.
    pub(crate) fn locate(&self, error: Error) -> Error {
        if LOCATIONS { error.at(self.at) } else { error }
    }

    pub(crate) fn shape_error(&self, why: impl Into<String>) -> Error {
        Error::shape(self.name, why)
    }

    pub(crate) fn argument_error(&self, why: impl Into<String>) -> Error {
        Error::argument(self.name, why)
    }
}

/// # Checks
impl Op<'_> {
    /// Whether the device computes on the CPU.
    pub(crate) fn software(&self) -> bool {
        self.gpu.software
    }

    /// A sound tensor of this context, or the error it carries.
    fn data<'t>(&self, t: &'t Tensor) -> Result<&'t Data> {
        let data = t.data()?;
        if !Arc::ptr_eq(&data.gpu, self.gpu) {
            return Err(Error::new(self.name, ErrorKind::WrongContext));
        }
        Ok(data)
    }

    /// Checks every input: sound, and of this context.
    pub(crate) fn inputs(&self, tensors: &[&Tensor]) -> Result<()> {
        tensors.iter().try_for_each(|t| self.data(t).map(drop))
    }

    /// Checks that an input holds `rows · columns · …` elements.
    pub(crate) fn expect(&self, name: &str, t: &Tensor, sizes: &[u32]) -> Result<()> {
        let wanted = self.product(sizes)?;
        if t.len() as u64 == wanted {
            return Ok(());
        }
        Err(self.shape_error(format!("{name} has shape {:?}, but {sizes:?} is expected", t.shape())))
    }

    /// The number of elements of `sizes`, if kernels can count them.
    pub(crate) fn product(&self, sizes: &[u32]) -> Result<u64> {
        let sizes: Vec<u64> = sizes.iter().map(|s| u64::from(*s)).collect();
        shape::product(self.name, &sizes)
    }
}

/// # Making tensors
impl Op<'_> {
    fn origin(&self, shape: &Arc<[usize]>) -> Origin {
        Origin { op: self.name, shape: shape.clone() }
    }

    pub(crate) fn floats(&self, data: &[f32], shape: &[usize]) -> Result<Tensor> {
        self.upload(data.len() as u64, Dtype::F32, shape, |to| to.write(bytemuck::cast_slice(data)))
    }

    /// A tensor whose `len` elements `write` uploads.
    pub(crate) fn upload(
        &self,
        len: u64,
        dtype: Dtype,
        shape: &[usize],
        write: impl FnOnce(Target<'_>),
    ) -> Result<Tensor> {
        let wanted = shape::len(self.name, shape)?;
        if len != wanted {
            return Err(self.shape_error(format!("{len} values do not fill shape {shape:?}, which holds {wanted}")));
        }
        let shape: Arc<[usize]> = shape.into();
        let storage = match len {
            0 => None,
            _ => Some(Arc::new(self.gpu.upload(self.origin(&shape), dtype.bytes(len), write)?)),
        };
        Ok(Tensor::new(self.gpu.clone(), storage, dtype, shape))
    }

    /// A tensor for a kernel to write. Without elements it has no buffer.
    fn fresh(&self, dtype: Dtype, shape: &Arc<[usize]>) -> Result<Tensor> {
        let storage = match shape::len(self.name, shape)? {
            0 => None,
            len => Some(Arc::new(self.gpu.fresh(self.origin(shape), dtype.bytes(len))?)),
        };
        Ok(Tensor::new(self.gpu.clone(), storage, dtype, shape.clone()))
    }

    /// The same values, stored as `dtype`.
    pub(crate) fn cast(&self, x: &Tensor, dtype: Dtype) -> Result<Tensor> {
        if self.data(x)?.dtype == dtype {
            return Ok(x.clone());
        }
        let y = self.fresh(dtype, &x.shared_shape())?;
        self.copy(x, &y, 0)?;
        Ok(y)
    }

    /// Writes the values of `x` into `y` from element `at` on, stored as `y` is.
    pub(crate) fn copy(&self, x: &Tensor, y: &Tensor, at: u32) -> Result<()> {
        let len = x.len() as u64;
        let kernel = if y.dtype() == Dtype::F16 { table::PACK_AT } else { table::COPY_AT };
        let grid = Grid { groups: len.div_ceil(1024), cost: len };
        self.record(&kernel, CopyAt { len: len as u32, at }, [x], [y], grid)
    }

    /// A tensor of zeros.
    pub(crate) fn zeros(&self, shape: &[usize]) -> Result<Tensor> {
        self.zeros_as(Dtype::F32, shape)
    }

    pub(crate) fn zeros_as(&self, dtype: Dtype, shape: &[usize]) -> Result<Tensor> {
        let y = self.fresh(dtype, &shape.into())?;
        let vectors = dtype.bytes(y.len() as u64).div_ceil(16);
        let grid = Grid { groups: vectors.div_ceil(256), cost: vectors };
        self.record(&table::ZEROS, Len { len: vectors as u32 }, [], [&y], grid)?;
        Ok(y)
    }

    /// A small constant tensor, made once for each key.
    pub(crate) fn table(&self, key: (u32, u32), make: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
        self.tables.get(key, make)
    }
}

/// A call of a kernel without its types, so that the program holds what follows once.
struct Call<'a> {
    pipeline: usize,
    half: Range<usize>,
    params: &'a [u8],
    inputs: &'a [&'a Tensor],
    grid: Grid,
}

/// # Recording
impl Op<'_> {
    /// Records a kernel over `inputs` into new tensors of `shape`.
    pub(crate) fn run<P: Params, const IN: usize, const OUT: usize>(
        &self,
        kernel: &Kernel<P, IN, OUT>,
        params: P,
        inputs: [&Tensor; IN],
        shape: impl Into<Arc<[usize]>>,
        grid: Grid,
    ) -> Result<[Tensor; OUT]> {
        let (pipeline, half, params) = (kernel.pipeline, kernel.half(), bytemuck::bytes_of(&params));
        self.call(&Call { pipeline, half, params, inputs: &inputs, grid }, shape.into())
    }

    fn call<const OUT: usize>(&self, call: &Call<'_>, shape: Arc<[usize]>) -> Result<[Tensor; OUT]> {
        self.inputs(call.inputs)?;
        // A failed one makes `dispatch` return its error.
        let outputs = std::array::from_fn(|_| self.fresh(Dtype::F32, &shape).unwrap_or_else(Tensor::failed));
        self.dispatch(call, &outputs.each_ref())?;
        Ok(outputs)
    }

    /// Records a kernel over `inputs` into tensors that are there already. Without elements nothing is recorded.
    pub(crate) fn record<P: Params, const IN: usize, const OUT: usize>(
        &self,
        kernel: &Kernel<P, IN, OUT>,
        params: P,
        inputs: [&Tensor; IN],
        outputs: [&Tensor; OUT],
        grid: Grid,
    ) -> Result<()> {
        let (pipeline, half, params) = (kernel.pipeline, kernel.half(), bytemuck::bytes_of(&params));
        self.dispatch(&Call { pipeline, half, params, inputs: &inputs, grid }, &outputs)
    }

    /// Inputs stored as f16 are made f32 first, but where the kernel can read them as they are.
    fn dispatch(&self, call: &Call<'_>, outputs: &[&Tensor]) -> Result<()> {
        self.inputs(call.inputs)?;
        self.inputs(outputs)?;
        if outputs.iter().all(|y| y.is_empty()) {
            return Ok(());
        }
        let half = |t: &Tensor| t.dtype() == Dtype::F16;
        let direct = !call.half.is_empty() && call.inputs[call.half.clone()].iter().all(|t| half(t));
        let mut cast = [const { None }; INPUTS_MAX];
        for (i, t) in call.inputs.iter().enumerate() {
            if half(t) && !(direct && call.half.contains(&i)) {
                cast[i] = Some(self.cast(t, Dtype::F32)?);
            }
        }
        let bound: Vec<&Tensor> = call.inputs.iter().zip(&cast).map(|(t, cast)| cast.as_ref().unwrap_or(t)).collect();
        let pipeline = call.pipeline + usize::from(direct);
        let (inputs, outputs) = (self.storages(&bound)?, self.storages(outputs)?);
        self.gpu.dispatch(self.name, pipeline, call.params, &inputs, &outputs, call.grid)
    }

    /// The buffers of tensors, which must have elements.
    fn storages<'t>(&self, tensors: &[&'t Tensor]) -> Result<Vec<&'t Storage>> {
        let storage = |t: &&'t Tensor| {
            let why = "a kernel was given a tensor without elements";
            self.data(t)?.storage.as_deref().ok_or_else(|| Error::new(self.name, ErrorKind::Internal(why.into())))
        };
        tensors.iter().map(storage).collect()
    }
}
