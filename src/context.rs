//! The owner of one device: makes tensors and reads them back.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::device::{Gpu, Memory, Pending, Stats};
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Op, Tables};
use crate::platform::{self, Adapter};
use crate::tensor::Tensor;
use crate::verdict::Origin;

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
    tables: Arc<Tables>,
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
        let mut found = platform::adapters().await?;
        found.sort_by_key(Adapter::rank);
        Self::first_of(found).await
    }

    /// Every adapter of every backend, software too: name, backend and kind. In a browser 0 to 2 entries (one for
    /// each power preference, or one if they are the same).
    pub async fn enumerate() -> Vec<(String, wgpu::Backend, wgpu::DeviceType)> {
        let found = platform::adapters().await.unwrap_or_default();
        found.into_iter().map(|a| (a.name, a.backend, a.device_type)).collect()
    }

    /// A context on the adapter at `idx` in [`enumerate`](Context::enumerate).
    ///
    /// # Errors
    /// `no-adapter` for an index beyond the list.
    pub async fn for_adapter(idx: usize) -> Result<Self> {
        let found = platform::adapters().await?;
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
        let gpu = Gpu::new(&adapter).await?;
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
    pub fn compiled(&self) -> Vec<String> {
        self.gpu.compiled()
    }

    /// Bytes of GPU memory that this context holds.
    pub fn memory(&self) -> Memory {
        // The context's own tables are nobody's tensors.
        self.tables.held(|tables, bytes| {
            let mut memory = self.gpu.memory();
            memory.tensors -= tables;
            memory.live_bytes -= bytes;
            memory.pooled_bytes += bytes;
            memory
        })
    }

    /// Why the device was lost, once it is; every later op and read gives `device-lost`.
    pub fn lost(&self) -> Option<(wgpu::DeviceLostReason, String)> {
        let lost = self.gpu.lost().get()?;
        let reason = if lost.destroyed { wgpu::DeviceLostReason::Destroyed } else { wgpu::DeviceLostReason::Unknown };
        Some((reason, lost.message))
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
            let mut bytes = bytemuck::cast_slice(bits).to_vec();
            bytes.resize(bits.len().next_multiple_of(2) * 2, 0); // whole words
            op.upload(bits.len() as u64, Dtype::F16, shape, |to| to.write(&bytes))
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
            Some(storage) => {
                let origin = Origin { op: op.name, shape: t.shared_shape() };
                self.gpu.start_read(origin, storage, t.len() as u64 * 4).map(Some)
            }
            None => Ok(None),
        }
    }

    #[track_caller]
    pub(crate) fn op(&self, name: &'static str) -> Op<'_> {
        Op::new(&self.gpu, &self.tables, name, Location::caller())
    }
}
