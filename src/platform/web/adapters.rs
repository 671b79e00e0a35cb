//! The adapters that a browser offers.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::object::{call, get, object, sleep, text};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::adapter::Adapter;

/// Milliseconds that a browser has to name its adapters: a page must hear within ten seconds.
const PATIENCE: f64 = 8000.0;

/// What `asked` gives, or after `patience` milliseconds that the browser did not answer.
pub(crate) async fn answer<T>(
    asked: impl Future<Output = T>,
    what: &str,
    patience: f64,
) -> std::result::Result<T, String> {
    let (mut asked, mut late) = (pin!(asked), pin!(sleep(patience.max(0.0))));
    poll_fn(|cx| match asked.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => late.as_mut().poll(cx).map(|()| Err(format!("the browser did not answer {what} in time"))),
    })
    .await
}

/// The adapter for each power preference, or one if they are the same. Where there is none, the browser's reason is
/// in the error.
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
    let mut refused = None;
    let until = js_sys::Date::now() + PATIENCE;
    let left = || until - js_sys::Date::now();
    let preferences =
        [(wgpu::PowerPreference::HighPerformance, "high-performance"), (wgpu::PowerPreference::LowPower, "low-power")];
    for (power_preference, name) in preferences {
        match offered(&gpu, name, left()).await {
            Ok(Some((name, device_type))) => {
                if found.iter().any(|a| a.name == name && a.device_type == device_type) {
                    continue;
                }
                let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
                match answer(instance.request_adapter(&options), "requestAdapter", left()).await {
                    Ok(Ok(raw)) => {
                        found.push(Adapter { raw, name, backend: wgpu::Backend::BrowserWebGpu, device_type });
                    }
                    Ok(Err(_)) => {}
                    Err(why) => refused = refused.or(Some(why)),
                }
            }
            Ok(None) => {}
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    match refused {
        Some(why) if found.is_empty() => Err(Error::new("Context", ErrorKind::NoAdapter(why))),
        _ => Ok(found),
    }
}

/// Name and kind of the adapter for a power preference, or why the browser gives none. wgpu hides vendor and
/// architecture, which most browsers give instead of a description.
async fn offered(
    gpu: &JsValue,
    preference: &str,
    patience: f64,
) -> std::result::Result<Option<(String, wgpu::DeviceType)>, String> {
    let failed = |why: JsValue| format!("requestAdapter failed: {}", text(&why));
    let options = object([("powerPreference", preference.into())]);
    let asked = Promise::resolve(&call(gpu, "requestAdapter", &options).map_err(failed)?);
    let adapter = answer(JsFuture::from(asked), "requestAdapter", patience).await?.map_err(failed)?;
    if !adapter.is_object() {
        return Ok(None);
    }
    let info = get(&adapter, "info");
    let part = |name| get(&info, name).as_string().filter(|s| !s.is_empty());
    let name = part("description").unwrap_or_else(|| {
        let parts: Vec<_> = ["vendor", "architecture", "device"].into_iter().filter_map(part).collect();
        if parts.is_empty() { "unnamed adapter".into() } else { parts.join(" ") }
    });
    let fallback = |of: &JsValue| get(of, "isFallbackAdapter").is_truthy();
    let software = fallback(&info) || fallback(&adapter) || name.to_lowercase().contains("swiftshader");
    Ok(Some((name, if software { wgpu::DeviceType::Cpu } else { wgpu::DeviceType::Other })))
}

/// A backend's name for JavaScript.
pub(crate) fn backend_name(backend: wgpu::Backend) -> &'static str {
    if backend == wgpu::Backend::BrowserWebGpu { "webgpu" } else { backend.to_str() }
}

/// A kind of GPU by its name in JavaScript.
pub(crate) fn type_name(device_type: wgpu::DeviceType) -> &'static str {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete-gpu",
        wgpu::DeviceType::IntegratedGpu => "integrated-gpu",
        wgpu::DeviceType::VirtualGpu => "virtual-gpu",
        wgpu::DeviceType::Cpu => "cpu",
        wgpu::DeviceType::Other => "other",
    }
}
