//! The owner of one device: makes tensors, reads them back, and runs kernels for the ops.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{self, Adapter, Gpu, Memory, Pending, Stats, Storage};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Kernel, Params, Work};
use crate::kernels::CopyAt;
use crate::tensor::{Data, Dtype, Tensor};
use crate::{kernels, platform, shape};

/// A compute context bound to one GPU adapter on whatever fabric is available.
///
/// Several contexts live side by side; their tensors never mix (`wrong-context`). Device ops only queue work:
/// [`to_vec`](Context::to_vec) is the only sync point. A clone is a second handle to the same device.
#[derive(Clone)]
pub struct Context {
    /// The device that this context records for.
    pub device: wgpu::Device,
    /// The queue that it submits to.
    pub queue: wgpu::Queue,
    /// The API behind it.
    pub backend: wgpu::Backend,
    /// The adapter's own name.
    pub adapter_name: String,
    pub(crate) gpu: Arc<Gpu>,
    device_type: wgpu::DeviceType,
    /// Frequencies of rotary embeddings by base and head size.
    tables: Arc<Mutex<HashMap<(u32, u32), Tensor>>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({}, {:?}, {:?})", self.adapter_name, self.backend, self.device_type)
    }
}

/// # Acquiring
impl Context {
    /// A context on the best device: discrete before integrated before virtual before software.
    ///
    /// # Errors
    /// `no-webgpu` and `no-adapter`, with what to do about it.
    pub async fn new() -> Result<Self> {
        let mut found = device::adapters().await?;
        found.sort_by_key(Adapter::rank);
        Self::first_of(found).await
    }

    /// Every adapter of every backend, software too: name, backend and kind. In a browser 0 to 2 entries (one for
    /// each power preference, or one if they are the same).
    pub async fn enumerate() -> Vec<(String, wgpu::Backend, wgpu::DeviceType)> {
        let found = device::adapters().await.unwrap_or_default();
        found.into_iter().map(|a| (a.name, a.backend, a.device_type)).collect()
    }

    /// A context on the adapter at `idx` in [`enumerate`](Context::enumerate).
    ///
    /// # Errors
    /// `no-adapter` for an index beyond the list.
    pub async fn for_adapter(idx: usize) -> Result<Self> {
        let found = device::adapters().await?;
        let len = found.len();
        match found.into_iter().nth(idx) {
            Some(adapter) => Self::on(adapter).await,
            None => Err(Error::new("for_adapter", ErrorKind::NoAdapter(format!("index {idx} of {len} adapters")))),
        }
    }

    /// A context on the first of the adapters that makes a device.
    pub(crate) async fn first_of(adapters: Vec<Adapter>) -> Result<Self> {
        let mut refused =
            Error::new("Context", ErrorKind::NoAdapter("none was offered; check the GPU's driver".into()));
        for adapter in adapters {
            match Self::on(adapter).await {
                Ok(context) => return Ok(context),
                Err(e) => refused = e,
            }
        }
        Err(refused)
    }

    async fn on(adapter: Adapter) -> Result<Self> {
        let gpu = Gpu::new(&adapter, kernels::ALL).await?;
        Ok(Self {
            device: gpu.device.clone(),
            queue: gpu.queue.clone(),
            backend: adapter.backend,
            adapter_name: adapter.name,
            device_type: adapter.device_type,
            tables: Arc::default(),
            gpu,
        })
    }

    /// Whether the adapter computes on the CPU: right numbers, no speed.
    pub fn is_software(&self) -> bool {
        self.gpu.software
    }

    /// The adapter's kind.
    pub fn device_type(&self) -> wgpu::DeviceType {
        self.device_type
    }

    /// Counts of what this context made and submitted.
    pub fn stats(&self) -> Stats {
        self.gpu.stats()
    }

    /// The kernels whose pipelines exist, for tests.
    #[doc(hidden)]
    pub fn compiled(&self) -> Vec<&'static str> {
        self.gpu.compiled()
    }

    /// Bytes of GPU memory that this context holds.
    pub fn memory(&self) -> Memory {
        // The context's own tables are nobody's tensors. Locked first: a table that another thread makes in between would
        // be taken off a count that lacks it.
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = self.gpu.memory();
        for storage in tables.values().filter_map(|t| t.data().ok()?.storage.as_ref()) {
            memory.tensors -= 1;
            memory.live_bytes -= storage.bytes();
            memory.pooled_bytes += storage.bytes();
        }
        memory
    }

    /// Why the device was lost, once it is; every later op and read gives `device-lost`.
    pub fn lost(&self) -> Option<(wgpu::DeviceLostReason, String)> {
        self.gpu.lost().get().map(|lost| (lost.reason, lost.message))
    }

    /// Gives recorded work to the GPU without waiting for it. Reads do this by themselves.
    pub fn flush(&self) {
        self.gpu.flush();
    }

    /// Ends the context at once. Pending and later reads give `device-lost`.
    pub fn destroy(&self) {
        self.gpu.destroy();
    }
}

/// # Tensors
impl Context {
    /// Uploads `data`, which is copied before the call returns.
    ///
    /// # Errors
    /// `shape-mismatch` if `data` does not have as many elements as `shape`; `limit-exceeded`, `out-of-memory`.
    #[track_caller]
    pub fn tensor(&self, data: &[f32], shape: &[usize]) -> Tensor {
        self.op("tensor").eval(|op| op.floats(data, shape))
    }

    /// Uploads `data` to be stored as f16: each value becomes the nearest half, ties to even, as IEEE 754 has it: NaN
    /// stays NaN, and beyond 65,504 (from 65,520 on) all is infinite.
    ///
    /// # Errors
    /// As [`tensor`](Context::tensor).
    #[track_caller]
    pub fn tensor_f16(&self, data: &[f32], shape: &[usize]) -> Tensor {
        self.op("tensor_f16").eval(|op| op.cast(&op.floats(data, shape)?, Dtype::F16))
    }

    /// Uploads halves by their bits.
    ///
    /// # Errors
    /// As [`tensor`](Context::tensor).
    #[track_caller]
    pub fn tensor_f16_bits(&self, bits: &[u16], shape: &[usize]) -> Tensor {
        self.op("tensor_f16_bits").eval(|op| {
            op.upload(bits.len() as u64, Dtype::F16, shape, |queue, buffer| {
                // In whole words.
                let (pairs, last) = bits.split_at(bits.len() & !1);
                write(queue, buffer, bytemuck::cast_slice(pairs));
                if let [last] = last {
                    queue.write_buffer(buffer, pairs.len() as u64 * 2, bytemuck::bytes_of(&[*last, 0]));
                }
            })
        })
    }

    /// The same values stored another way: to f16 as in [`tensor_f16`](Context::tensor_f16), to f32 exactly. Another
    /// handle if they are stored so already.
    #[track_caller]
    pub fn to_dtype(&self, t: &Tensor, dtype: Dtype) -> Tensor {
        self.op("to_dtype").eval(|op| op.cast(t, dtype))
    }

    /// A tensor on the device only; reads as zeros.
    ///
    /// # Errors
    /// `limit-exceeded`, `out-of-memory`.
    #[track_caller]
    pub fn empty(&self, shape: &[usize]) -> Tensor {
        self.op("empty").eval(|op| op.zeros(shape))
    }

    /// Waits for all work that `t` depends on and copies its values to the host. The only sync point.
    ///
    /// Reads that are started together share one submit and one wait.
    ///
    /// # Errors
    /// The error of a failed tensor, or the fault that the GPU reported of the work behind this one.
    pub async fn to_vec(&self, t: &Tensor) -> Result<Vec<f32>> {
        let Some(read) = self.start_read(t)? else { return Ok(Vec::new()) };
        let mapped = read.finish().await?;
        Ok(mapped.bytes().map(bytemuck::pod_collect_to_vec).unwrap_or_default())
    }

    /// Records the read of a tensor; `None` without elements.
    pub(crate) fn start_read(&self, t: &Tensor) -> Result<Option<Pending>> {
        let op = self.op("to_vec");
        let t = op.cast(t, Dtype::F32)?;
        match &t.data()?.storage {
            Some(storage) => self.gpu.start_read(op.name, storage, t.len() as u64 * 4).map(Some),
            None => Ok(None),
        }
    }

    #[track_caller]
    pub(crate) fn op(&self, name: &'static str) -> Op<'_> {
        Op { context: self, name, at: Location::caller() }
    }
}

/// Bytes of one `write_buffer`.
const UPLOAD_SLICE: usize = 16 << 20;

/// Writes in slices, so that wgpu's own staging stays small.
fn write(queue: &wgpu::Queue, buffer: &wgpu::Buffer, bytes: &[u8]) {
    for (slice, at) in bytes.chunks(UPLOAD_SLICE).zip(0u64..) {
        queue.write_buffer(buffer, at * UPLOAD_SLICE as u64, slice);
    }
}

/// One call of an op: its name for errors, its caller, and what it may do.
pub(crate) struct Op<'a> {
    context: &'a Context,
    pub(crate) name: &'static str,
    at: &'static Location<'static>,
}

impl Op<'_> {
    /// Whether the device computes on the CPU.
    pub(crate) fn software(&self) -> bool {
        self.context.is_software()
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
        if platform::LOCATIONS { error.at(self.at) } else { error }
    }

    pub(crate) fn shape_error(&self, why: impl Into<String>) -> Error {
        Error::shape(self.name, why)
    }

    pub(crate) fn argument_error(&self, why: impl Into<String>) -> Error {
        Error::argument(self.name, why)
    }

    /// A sound tensor of this context, or the error it carries.
    pub(crate) fn data<'t>(&self, t: &'t Tensor) -> Result<&'t Data> {
        let data = t.data()?;
        if !Arc::ptr_eq(&data.gpu, &self.context.gpu) {
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

    fn floats(&self, data: &[f32], shape: &[usize]) -> Result<Tensor> {
        let len = data.len() as u64;
        self.upload(len, Dtype::F32, shape, |queue, buffer| write(queue, buffer, bytemuck::cast_slice(data)))
    }

    /// A tensor whose `len` elements `write` puts into the raw buffer.
    pub(crate) fn upload(
        &self,
        len: u64,
        dtype: Dtype,
        shape: &[usize],
        write: impl FnOnce(&wgpu::Queue, &wgpu::Buffer),
    ) -> Result<Tensor> {
        let wanted = shape::len(self.name, shape)?;
        if len != wanted {
            return Err(self.shape_error(format!("{len} values do not fill shape {shape:?}, which holds {wanted}")));
        }
        let storage = match len {
            0 => None,
            _ => Some(Arc::new(self.context.gpu.upload(self.name, dtype.bytes(len), write)?)),
        };
        Ok(Tensor::new(self.context.gpu.clone(), storage, dtype, shape.into()))
    }

    /// The same values, stored as `dtype`.
    pub(crate) fn cast(&self, x: &Tensor, dtype: Dtype) -> Result<Tensor> {
        if self.data(x)?.dtype == dtype {
            return Ok(x.clone());
        }
        let len = x.len() as u64;
        let kernel = if dtype == Dtype::F16 { &kernels::PACK_AT } else { &kernels::COPY_AT };
        let params = CopyAt { len: len as u32, at: 0 };
        let [y] = self.make(dtype, &kernel.work(&params, &[x], len.div_ceil(1024), len), x.shared_shape())?;
        Ok(y)
    }

    /// A small constant tensor, made once for each key.
    pub(crate) fn table(&self, key: (u32, u32), make: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
        let mut tables = self.context.tables.lock().unwrap_or_else(PoisonError::into_inner);
        // One that the GPU had no memory for is made again.
        let sound = |t: &&Tensor| t.data().is_ok_and(|d| d.storage.as_ref().is_none_or(|s| !s.failed()));
        if let Some(table) = tables.get(&key).filter(sound) {
            return Ok(table.clone());
        }
        let table = make()?;
        tables.insert(key, table.clone());
        Ok(table)
    }

    /// A tensor of zeros.
    pub(crate) fn zeros(&self, shape: &[usize]) -> Result<Tensor> {
        self.zeros_as(Dtype::F32, shape)
    }

    pub(crate) fn zeros_as(&self, dtype: Dtype, shape: &[usize]) -> Result<Tensor> {
        let vectors = dtype.bytes(shape::len(self.name, shape)?).div_ceil(16);
        let params = kernels::Len { len: vectors as u32 };
        let [y] = self.make(dtype, &kernels::ZEROS.work(&params, &[], vectors.div_ceil(256), vectors), shape.into())?;
        Ok(y)
    }

    /// Records `kernel` over `inputs`; the output has `shape`. Without elements nothing is recorded.
    pub(crate) fn run<P: Params, const IN: usize>(
        &self,
        kernel: &Kernel<P, IN>,
        params: P,
        inputs: [&Tensor; IN],
        shape: Arc<[usize]>,
        groups: u64,
        cost: u64,
    ) -> Result<Tensor> {
        let [y] = self.run_all(kernel, params, inputs, shape, groups, cost)?;
        Ok(y)
    }

    /// As `run`, for kernels with any number of outputs, all of one shape.
    pub(crate) fn run_all<P: Params, const IN: usize, const OUT: usize>(
        &self,
        kernel: &Kernel<P, IN, OUT>,
        params: P,
        inputs: [&Tensor; IN],
        shape: Arc<[usize]>,
        groups: u64,
        cost: u64,
    ) -> Result<[Tensor; OUT]> {
        self.make(Dtype::F32, &kernel.work(&params, &inputs, groups, cost), shape)
    }

    /// As `run_all`, for a kernel that writes `dtype`.
    fn make<const OUT: usize>(&self, dtype: Dtype, work: &Work<'_>, shape: Arc<[usize]>) -> Result<[Tensor; OUT]> {
        let mut outputs = [const { None }; OUT];
        self.fill(dtype, work, &mut outputs, &shape)?;
        Ok(outputs.map(|storage| Tensor::new(self.context.gpu.clone(), storage, dtype, shape.clone())))
    }

    /// `make` without its number of outputs, so that the program holds it once.
    fn fill(&self, dtype: Dtype, work: &Work<'_>, outputs: &mut [Option<Arc<Storage>>], shape: &[usize]) -> Result<()> {
        let len = shape::len(self.name, shape)?;
        self.inputs(work.inputs)?;
        if len == 0 {
            return Ok(());
        }
        for output in &mut *outputs {
            *output = Some(Arc::new(self.context.gpu.fresh(self.name, dtype.bytes(len))?));
        }
        let targets: Vec<&Storage> = outputs.iter().flatten().map(|storage| &**storage).collect();
        self.dispatch(work, &targets)
    }

    /// Records work with tensors that are there already as its targets.
    pub(crate) fn record<const OUT: usize>(&self, work: &Work<'_>, outputs: [&Tensor; OUT]) -> Result<()> {
        self.dispatch(work, &self.storages(&outputs)?)
    }

    /// Inputs stored as f16 are made f32 first, but where the kernel can read them as they are.
    fn dispatch(&self, work: &Work<'_>, targets: &[&Storage]) -> Result<()> {
        let Work { row, f16, params, inputs, groups, cost } = work;
        let half = |t: &Tensor| t.dtype() == Dtype::F16;
        let direct = !f16.is_empty() && inputs[(*f16).clone()].iter().all(|t| half(t));
        let mut cast = [const { None }; device::INPUTS_MAX];
        for (i, t) in inputs.iter().enumerate() {
            if half(t) && !(direct && f16.contains(&i)) {
                cast[i] = Some(self.cast(t, Dtype::F32)?);
            }
        }
        let bound: Vec<&Tensor> = inputs.iter().zip(&cast).map(|(t, cast)| cast.as_ref().unwrap_or(t)).collect();
        let row = if direct { kernels::ALL.len() + row } else { *row };
        self.context.gpu.dispatch(self.name, row, params, &self.storages(&bound)?, targets, *groups, *cost)
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
