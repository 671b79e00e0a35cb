//! The one place that knows a browser from a native program: adapters, pipelines and command buffers, error scopes, and
//! waiting for the GPU.

use std::future::poll_fn;
use std::task::Poll;

pub(crate) use self::commands::{Commands, Group, Layout, Pipeline};
pub(crate) use self::sys::*;

#[cfg_attr(not(target_arch = "wasm32"), path = "platform/commands_native.rs")]
#[cfg_attr(target_arch = "wasm32", path = "platform/commands_web.rs")]
mod commands;

/// How many buffers a kernel reads and writes. Its uniform parameters are bound behind them.
#[derive(Clone, Copy)]
pub(crate) struct Bindings {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Bindings {
    /// What each binding is, in terms of the caller.
    fn kinds<T: Copy>(self, [read, write, uniform]: [T; 3]) -> impl Iterator<Item = T> {
        let reads = std::iter::repeat_n(read, self.inputs);
        reads.chain(std::iter::repeat_n(write, self.outputs)).chain([uniform])
    }
}

/// Lets other futures of the same task run once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(not(target_arch = "wasm32"))]
mod sys {
    use std::pin::pin;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::task::{Context, Poll, Waker};
    use std::thread;

    use crate::device::{Adapter, Event, Gpu, Lost, Verdict};
    use crate::error::{ErrorKind, Result};

    /// Errors carry the line that called the op.
    pub(crate) const LOCATIONS: bool = true;

    pub(crate) async fn adapters() -> Result<Vec<Adapter>> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let found = instance.enumerate_adapters(wgpu::Backends::all()).await;
        Ok(found
            .into_iter()
            .map(|raw| {
                let info = raw.get_info();
                Adapter { raw, name: info.name, backend: info.backend, device_type: info.device_type }
            })
            .collect())
    }

    pub(crate) fn warn(message: &str) {
        eprintln!("{message}");
    }

    /// Catches every fault between `push` and `pop`. On native wgpu knows them at once.
    pub(crate) struct Scopes([wgpu::ErrorScopeGuard; 3]);

    impl Scopes {
        pub(crate) fn push(device: &wgpu::Device) -> Self {
            use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
            Self([Internal, OutOfMemory, Validation].map(|filter| device.push_error_scope(filter)))
        }

        pub(crate) fn pop(self, verdict: &Verdict) {
            let mut outcome = Ok(());
            let [internal, memory, validation] = self.0;
            for scope in [validation, memory, internal] {
                let popped = pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop()));
                if let Poll::Ready(Some(error)) = popped {
                    outcome = outcome.and(Err(kind(&error)));
                }
            }
            verdict.settle(outcome);
        }
    }

    fn kind(error: &wgpu::Error) -> ErrorKind {
        let text = error.to_string();
        match error {
            wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory(text),
            _ if text.contains("is lost") => ErrorKind::DeviceLost(text),
            wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => ErrorKind::Internal(text),
        }
    }

    /// Compiles rows of the kernel table in as many threads as the machine runs at once, and settles their verdicts.
    pub(crate) fn compile(gpu: &Arc<Gpu>, rows: Vec<(usize, Verdict)>) {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(rows.len());
        let rows = Arc::new(Mutex::new(rows));
        for _ in 0..threads {
            let (gpu, rows) = (gpu.clone(), rows.clone());
            let next = move || rows.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let work = move || {
                while let Some((row, verdict)) = next() {
                    let (layout, desc, f16) = gpu.parts(row);
                    let scopes = Scopes::push(&gpu.device);
                    let pipeline = layout.pipeline(&gpu.device, desc, f16);
                    let made = Verdict::new();
                    scopes.pop(&made);
                    let failed = made.failed();
                    if failed.is_none() {
                        gpu.adopt(row, pipeline);
                    }
                    verdict.settle(failed.map_or(Ok(()), Err));
                }
            };
            if thread::Builder::new().spawn(work.clone()).is_err() {
                work();
            }
        }
    }

    /// Waits for a mapping by driving the device; nobody else polls it. `None` if it can no longer come.
    pub(crate) async fn arrival(device: &wgpu::Device, mapped: &Arc<Event<bool>>, lost: &Event<Lost>) -> Option<bool> {
        loop {
            if let Some(outcome) = mapped.get() {
                return Some(outcome);
            }
            if lost.get().is_some() || device.poll(wgpu::PollType::wait_indefinitely()).is_err() {
                return mapped.get();
            }
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod sys {
    use std::sync::Arc;

    use js_sys::{Array, Function, Object, Promise, Reflect};
    use wasm_bindgen::prelude::*;
    use wasm_bindgen_futures::JsFuture;

    use crate::device::{Adapter, Event, Gpu, Lost, Verdict};
    use crate::error::{Error, ErrorKind, Result};

    /// In a browser the caller's line is one of the facade; the JavaScript stack tells more.
    pub(crate) const LOCATIONS: bool = false;

    /// A plain object of these fields.
    pub(crate) fn object<const N: usize>(fields: [(&str, JsValue); N]) -> JsValue {
        let object = Object::new();
        for (name, value) in fields {
            let _ = Reflect::set(&object, &JsValue::from_str(name), &value);
        }
        object.into()
    }

    fn get(object: &JsValue, name: &str) -> JsValue {
        Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
    }

    fn call(object: &JsValue, name: &str, argument: &JsValue) -> std::result::Result<JsValue, JsValue> {
        get(object, name).dyn_into::<Function>()?.call1(object, argument)
    }

    fn text(value: &JsValue) -> String {
        value.as_string().or_else(|| get(value, "message").as_string()).unwrap_or_default()
    }

    /// The adapter for each power preference, or one if they are the same.
    pub(crate) async fn adapters() -> Result<Vec<Adapter>> {
        let global = JsValue::from(js_sys::global());
        let gpu = get(&get(&global, "navigator"), "gpu");
        if !gpu.is_object() {
            let why = match get(&global, "isSecureContext").as_bool() {
                Some(false) => "this page is not secure; serve it over https or from localhost",
                _ => "this environment has no navigator.gpu; use a current browser with WebGPU switched on",
            };
            return Err(Error::new("Context", ErrorKind::NoWebGpu(why.into())));
        }
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let mut found: Vec<Adapter> = Vec::new();
        let preferences = [
            (wgpu::PowerPreference::HighPerformance, "high-performance"),
            (wgpu::PowerPreference::LowPower, "low-power"),
        ];
        for (power_preference, name) in preferences {
            // wgpu hides vendor and architecture, which most browsers give instead of a description.
            let options = js_sys::Object::new();
            let _ = Reflect::set(&options, &"powerPreference".into(), &name.into());
            let Ok(promise) = call(&gpu, "requestAdapter", &options) else { continue };
            let Ok(adapter) = JsFuture::from(Promise::resolve(&promise)).await else { continue };
            if !adapter.is_object() {
                continue;
            }
            let info = get(&adapter, "info");
            let part = |name| get(&info, name).as_string().filter(|s| !s.is_empty());
            let name = part("description").unwrap_or_else(|| {
                let parts: Vec<_> = ["vendor", "architecture", "device"].into_iter().filter_map(part).collect();
                if parts.is_empty() { "unnamed adapter".into() } else { parts.join(" ") }
            });
            let fallback = |of: &JsValue| get(of, "isFallbackAdapter").is_truthy();
            let software = fallback(&info) || fallback(&adapter) || name.to_lowercase().contains("swiftshader");
            let device_type = if software { wgpu::DeviceType::Cpu } else { wgpu::DeviceType::Other };
            if found.iter().any(|a| a.name == name && a.device_type == device_type) {
                continue;
            }
            let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
            if let Ok(raw) = instance.request_adapter(&options).await {
                found.push(Adapter { raw, name, backend: wgpu::Backend::BrowserWebGpu, device_type });
            }
        }
        Ok(found)
    }

    pub(crate) fn warn(message: &str) {
        let console = get(&js_sys::global().into(), "console");
        let _ = call(&console, "warn", &JsValue::from_str(message));
    }

    #[wasm_bindgen]
    #[derive(Clone, Copy, PartialEq)]
    enum Filter {
        Internal = "internal",
        OutOfMemory = "out-of-memory",
        Validation = "validation",
    }

    const FILTERS: [Filter; 3] = [Filter::Internal, Filter::OutOfMemory, Filter::Validation];

    #[wasm_bindgen]
    extern "C" {
        type Scoped;
        #[wasm_bindgen(method, js_name = pushErrorScope)]
        fn push_error_scope(this: &Scoped, filter: Filter);
        #[wasm_bindgen(method, catch, js_name = popErrorScope)]
        fn pop_error_scope(this: &Scoped) -> std::result::Result<JsValue, JsValue>;
    }

    /// Catches every fault between `push` and `pop`, and settles the verdict when the browser has told.
    ///
    /// Through the browser's own device: wgpu 30.0.2 panics on a `GPUInternalError` (`Error::from_js` in its
    /// `backend/webgpu.rs`). Use wgpu's scopes again when it no longer does.
    pub(crate) struct Scopes(Scoped);

    impl Scopes {
        pub(crate) fn push(device: &wgpu::Device) -> Self {
            let device: Scoped = super::commands::device(device).unchecked_into();
            FILTERS.iter().for_each(|filter| device.push_error_scope(*filter));
            Self(device)
        }

        pub(crate) fn pop(self, verdict: &Verdict) {
            let popped: Array = FILTERS.iter().map(|_| self.0.pop_error_scope().unwrap_or(JsValue::NULL)).collect();
            let verdict = verdict.clone();
            wasm_bindgen_futures::spawn_local(async move {
                verdict.settle(match JsFuture::from(Promise::all(&popped)).await {
                    Ok(errors) => outcome(&Array::from(&errors)),
                    // A lost device has no scopes any more.
                    Err(why) => Err(ErrorKind::DeviceLost(text(&why))),
                });
            });
        }
    }

    fn outcome(errors: &Array) -> std::result::Result<(), ErrorKind> {
        for (filter, error) in FILTERS.iter().rev().zip(errors.iter()) {
            if error.is_object() {
                let text = text(&error);
                return Err(if *filter == Filter::OutOfMemory {
                    ErrorKind::OutOfMemory(text)
                } else {
                    ErrorKind::Internal(text)
                });
            }
        }
        Ok(())
    }

    /// Milliseconds of work after which a page gets its turn.
    const TURN: f64 = 8.0;

    /// Has the browser compile rows of the kernel table, all at once, and settles their verdicts.
    pub(crate) fn compile(gpu: &Arc<Gpu>, rows: Vec<(usize, Verdict)>) {
        let gpu = gpu.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let mut since = js_sys::Date::now();
            for (row, verdict) in rows {
                if js_sys::Date::now() - since > TURN {
                    turn().await;
                    since = js_sys::Date::now();
                }
                if gpu.alive("warmup").is_err() {
                    verdict.settle(Err(gpu.fault(ErrorKind::Internal("it was not compiled".into()))));
                    continue;
                }
                let (layout, desc, f16) = gpu.parts(row);
                let pipeline = JsFuture::from(layout.pipeline_async(&gpu.device, desc, f16));
                let gpu = gpu.clone();
                wasm_bindgen_futures::spawn_local(async move {
                    verdict.settle(match pipeline.await {
                        Ok(pipeline) => {
                            gpu.adopt(row, pipeline.unchecked_into());
                            Ok(())
                        }
                        Err(why) => Err(ErrorKind::Internal(text(&why))),
                    });
                });
            }
        });
    }

    /// Lets the page do what it has to do.
    async fn turn() {
        let later = Promise::new(&mut |resolve, _| {
            let timer = get(&js_sys::global().into(), "setTimeout");
            let _ = timer.dyn_into::<Function>().map(|timer| timer.call1(&JsValue::UNDEFINED, &resolve));
        });
        let _ = JsFuture::from(later).await;
    }

    /// Waits for a mapping, which the browser drives. `None` if it can no longer come.
    pub(crate) async fn arrival(_: &wgpu::Device, mapped: &Arc<Event<bool>>, lost: &Event<Lost>) -> Option<bool> {
        lost.or(mapped.wait()).await
    }
}
