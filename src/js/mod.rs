//! What the npm package's facade (`js/index.js`) calls: plain functions over handles. The facade checks types and
//! numbers, this side shapes.
#![allow(unreachable_pub, reason = "wasm-bindgen exports public functions only")]

mod ops;
mod slab;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Float32Array, Function, Object, Promise, Uint8Array, Uint16Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use crate::error::{Error, ErrorKind};
use crate::ops::warmup;
use crate::platform::{adapters, backend_name, object, type_name};
use crate::{Context, Dtype, KvCache, Tensor};
use slab::Slab;

/// Dimensions of a result's shape that are handed over without a call.
const QUICK_RANK: usize = 8;

thread_local! {
    static CONTEXTS: RefCell<Slab<Rc<Context>>> = const { RefCell::new(Slab::new()) };
    static TENSORS: RefCell<Slab<Tensor>> = const { RefCell::new(Slab::new()) };
    static CACHES: RefCell<Slab<KvCache>> = const { RefCell::new(Slab::new()) };
    /// `(code, message) => TensorError`
    static MAKE_ERROR: RefCell<Option<Function>> = const { RefCell::new(None) };
    /// Rank and dimensions of the last result, and whether it is stored as f16.
    static SHAPE: [Cell<u32>; QUICK_RANK + 2] = const { [const { Cell::new(0) }; QUICK_RANK + 2] };
}

type Js<T> = std::result::Result<T, JsValue>;

/// The JavaScript name of an op: camelCase, without `_t`.
fn js_name(op: &str) -> String {
    match op {
        "to_vec" => return "toArray".into(),
        "scale_t" => return "mulScalar".into(),
        "add_bias_act_t" => return "addBias".into(),
        "to_dtype" => return "to".into(),
        _ => {}
    }
    let mut words = op.strip_suffix("_t").unwrap_or(op).split('_');
    let mut name = words.next().unwrap_or_default().to_string();
    for word in words {
        let (first, rest) = word.split_at(word.len().min(1));
        name += &first.to_uppercase();
        name += rest;
    }
    name
}

fn throw(error: &Error) -> JsValue {
    let message = format!("{}: {}", js_name(error.op()), error.kind());
    let make = MAKE_ERROR.with_borrow(Clone::clone);
    match make.map(|make| make.call2(&JsValue::UNDEFINED, &error.code().into(), &message.as_str().into())) {
        Some(Ok(error)) => error,
        _ => js_sys::Error::new(&message).into(),
    }
}

fn gone(what: &'static str) -> JsValue {
    throw(&Error::new(what, ErrorKind::Internal("a handle that is not there".into())))
}

/// Shared: a clone of a context clones its name and wgpu's handles.
fn context(handle: u32) -> Js<Rc<Context>> {
    CONTEXTS.with_borrow(|all| all.get(handle).cloned()).ok_or_else(|| gone("Context"))
}

fn tensor(handle: u32) -> Js<Tensor> {
    TENSORS.with_borrow(|all| all.get(handle).cloned()).ok_or_else(|| gone("Tensor"))
}

fn with_cache<T>(handle: u32, f: impl FnOnce(&mut KvCache) -> T) -> Js<T> {
    CACHES.with_borrow_mut(|all| all.get_mut(handle).map(f)).ok_or_else(|| gone("KvCache"))
}

/// Hands a sound tensor over, with its shape in the quick place; the error of a failed one is thrown.
fn give(t: Tensor) -> Js<u32> {
    if let Some(error) = t.error() {
        return Err(throw(error));
    }
    SHAPE.with(|quick| {
        quick[0].set(t.shape().len() as u32);
        for (slot, size) in quick[1..=QUICK_RANK].iter().zip(t.shape()) {
            slot.set(*size as u32);
        }
        quick[QUICK_RANK + 1].set(u32::from(t.dtype() == Dtype::F16));
    });
    Ok(TENSORS.with_borrow_mut(|all| all.insert(t)))
}

fn dtype(f16: bool) -> Dtype {
    if f16 { Dtype::F16 } else { Dtype::F32 }
}

fn sizes(shape: &[u32]) -> Vec<usize> {
    shape.iter().map(|s| *s as usize).collect()
}

/// To be called once, before anything else.
#[wasm_bindgen]
pub fn setup(make_error: Function) {
    console_error_panic_hook::set_once();
    MAKE_ERROR.set(Some(make_error));
}

/// Address of the rank, dimensions and dtype of the last result, `1 + 8 + 1` words.
#[wasm_bindgen(js_name = shapeAddress)]
pub fn shape_address() -> u32 {
    SHAPE.with(|quick| quick.as_ptr() as usize as u32)
}

/// A tensor's shape, for ranks beyond the quick place.
#[wasm_bindgen(js_name = shapeOf)]
pub fn shape_of(t: u32) -> Js<Vec<u32>> {
    Ok(tensor(t)?.shape().iter().map(|s| *s as u32).collect())
}

// === Contexts ===

#[wasm_bindgen(js_name = contextCreate)]
pub fn context_create(low_power: bool) -> Promise {
    future_to_promise(async move {
        let made = async {
            let mut found = adapters().await?;
            if low_power {
                found.reverse();
            }
            Context::first_of(found).await
        };
        give_context(made.await)
    })
}

#[wasm_bindgen(js_name = contextAt)]
pub fn context_at(index: u32) -> Promise {
    future_to_promise(async move { give_context(Context::for_adapter(index as usize).await) })
}

fn give_context(made: crate::Result<Context>) -> Js<JsValue> {
    let context = made.map_err(|e| throw(&e))?;
    Ok(CONTEXTS.with_borrow_mut(|all| all.insert(Rc::new(context))).into())
}

#[wasm_bindgen(js_name = contextList)]
pub fn context_list() -> Promise {
    future_to_promise(async {
        let found = adapters().await.unwrap_or_default();
        let entries = found.into_iter().zip(0u32..).map(|(adapter, index)| {
            object([
                ("index", index.into()),
                ("name", adapter.name.into()),
                ("backend", backend_name(adapter.backend).into()),
                ("deviceType", type_name(adapter.device_type).into()),
            ])
        });
        Ok(entries.collect::<Array>().into())
    })
}

#[wasm_bindgen(js_name = contextInfo)]
pub fn context_info(c: u32) -> Js<JsValue> {
    let context = context(c)?;
    Ok(object([
        ("backend", backend_name(context.backend).into()),
        ("adapterName", context.adapter_name.as_str().into()),
        ("isSoftware", context.is_software().into()),
    ]))
}

#[wasm_bindgen(js_name = contextLost)]
pub fn context_lost(c: u32) -> Js<Promise> {
    // Only the event: a promise that waits must not keep the device.
    let lost = context(c)?.gpu.lost().clone();
    Ok(future_to_promise(async move {
        let lost = lost.wait().await;
        let reason = if lost.destroyed { "destroyed" } else { "unknown" };
        Ok(object([("reason", reason.into()), ("message", lost.message.into())]))
    }))
}

/// Without names, every op. A Promise of nothing; `progress` hears how many pipelines of how many are there.
#[wasm_bindgen]
pub fn warmup(c: u32, names: Option<Array>, progress: Option<Function>) -> Js<Promise> {
    let context = context(c)?;
    let names = names.map(|names| names.iter().filter_map(|name| name.as_string()).collect::<Vec<_>>());
    if let Some(error) = names.as_deref().and_then(|names| warmup::unknown(names, js_name)) {
        return Err(throw(&error));
    }
    let pipelines = warmup::pipelines(|op| names.as_ref().is_none_or(|names| names.contains(&js_name(op))));
    context.gpu.alive("warmup").map_err(|e| throw(&e))?;
    // What the callback throws, the Promise rejects with in the end.
    let mut thrown = None;
    Ok(future_to_promise(async move {
        let compiled = context.gpu.compile("warmup", &pipelines, |done, total| {
            if let Some(progress) = &progress {
                thrown = progress.call2(&JsValue::UNDEFINED, &done.into(), &total.into()).err().or(thrown.take());
            }
        });
        compiled.await.map_err(|e| throw(&e))?;
        thrown.map_or(Ok(JsValue::UNDEFINED), Err)
    }))
}

#[wasm_bindgen(js_name = contextMemory)]
pub fn context_memory(c: u32) -> Js<JsValue> {
    let memory = context(c)?.memory();
    Ok(object([
        ("tensors", (memory.tensors as f64).into()),
        ("liveBytes", (memory.live_bytes as f64).into()),
        ("pooledBytes", (memory.pooled_bytes as f64).into()),
        ("peakBytes", (memory.peak_bytes as f64).into()),
    ]))
}

#[wasm_bindgen(js_name = contextDestroy)]
pub fn context_destroy(c: u32) -> Js<()> {
    context(c)?.destroy();
    Ok(())
}

#[wasm_bindgen(js_name = contextFree)]
pub fn context_free(c: u32) {
    let gone = CONTEXTS.with_borrow_mut(|all| all.remove(c));
    drop(gone);
}

// === Tensors ===

/// Uploads straight from the caller's array, in slices, so that wasm memory never holds it.
#[wasm_bindgen]
pub fn upload(c: u32, data: &Float32Array, shape: &[u32], f16: bool) -> Js<u32> {
    let op = if f16 { "tensor_f16" } else { "tensor" };
    write(c, op, data, data.length(), data.length(), shape, Dtype::F32, dtype(f16))
}

/// The same of `len` halves by their bits, in an array of whole words.
#[wasm_bindgen(js_name = uploadBits)]
pub fn upload_bits(c: u32, data: &Uint16Array, len: u32, shape: &[u32]) -> Js<u32> {
    write(c, "tensor_f16", data, data.length(), len, shape, Dtype::F16, Dtype::F16)
}

/// A tensor of the `items` of an array that holds `len` values stored `as_is`, and then made `wanted`.
#[allow(clippy::too_many_arguments, reason = "two kinds of arrays, one way")]
fn write(
    c: u32,
    op: &'static str,
    data: &Object,
    items: u32,
    len: u32,
    shape: &[u32],
    as_is: Dtype,
    wanted: Dtype,
) -> Js<u32> {
    let context = context(c)?;
    let op = context.op(op);
    let mut taken = true;
    give(op.eval(|op| {
        let t = op.upload(u64::from(len), as_is, &sizes(shape), |to| {
            taken = to.write_array(data, items, if as_is == Dtype::F16 { 2 } else { 4 });
        })?;
        if !taken {
            let why = "the browser did not take the values".into();
            return Err(Error::new(op.name, ErrorKind::Internal(why)));
        }
        op.cast(&t, wanted)
    }))
}

#[wasm_bindgen]
pub fn empty(c: u32, shape: &[u32]) -> Js<u32> {
    give(context(c)?.empty(&sizes(shape)))
}

#[wasm_bindgen]
extern "C" {
    /// `Uint8Array`, whose constructor throws where the page has no memory left.
    type Bytes;
    #[wasm_bindgen(constructor, catch, js_class = "Uint8Array")]
    fn copy(of: &Uint8Array) -> Js<Bytes>;
    #[wasm_bindgen(method, getter)]
    fn buffer(this: &Bytes) -> JsValue;
}

/// A Promise of a fresh `Float32Array`. What it reads is settled by this call: later work does not change it.
#[wasm_bindgen]
pub fn read(c: u32, t: u32) -> Js<Promise> {
    let read = context(c)?.start_read(&tensor(t)?).map_err(|e| throw(&e))?;
    Ok(future_to_promise(async move {
        let Some(read) = read else { return Ok(Float32Array::new_with_length(0).into()) };
        let mapped = read.finish().await.map_err(|e| throw(&e))?;
        let Some(view) = &mapped.view else { return Ok(JsValue::UNDEFINED) };
        // From the mapping to the caller's array, without a stop in wasm memory.
        let copy = Bytes::copy(view.as_uint8array()).map_err(|_| {
            let why = format!("the page has no {} bytes left", view.len());
            throw(&Error::new("to_vec", ErrorKind::OutOfMemory(why)))
        })?;
        Ok(Float32Array::new(&copy.buffer()).into())
    }))
}

#[wasm_bindgen]
pub fn free(t: u32) {
    let gone = TENSORS.with_borrow_mut(|all| all.remove(t));
    drop(gone);
}

// === Caches ===

#[wasm_bindgen(js_name = cacheCreate)]
pub fn cache_create(c: u32, capacity: u32, width: u32, f16: bool) -> Js<u32> {
    let cache = context(c)?.kv_cache_as(capacity as usize, width as usize, dtype(f16));
    for half in [cache.k(), cache.v()] {
        if let Some(error) = half.error() {
            return Err(throw(error));
        }
    }
    Ok(CACHES.with_borrow_mut(|all| all.insert(cache)))
}

#[wasm_bindgen(js_name = cacheAppend)]
pub fn cache_append(cache: u32, k: u32, v: u32) -> Js<()> {
    let (k, v) = (tensor(k)?, tensor(v)?);
    with_cache(cache, |cache| cache.append(&k, &v))?.map_err(|e| throw(&e))
}

#[wasm_bindgen(js_name = cacheAppendRope)]
pub fn cache_append_rope(cache: u32, k: u32, v: u32, heads: u32, base: f32) -> Js<()> {
    let (k, v) = (tensor(k)?, tensor(v)?);
    with_cache(cache, |cache| cache.append_rope(&k, &v, heads, base))?.map_err(|e| throw(&e))
}

#[wasm_bindgen(js_name = cacheTruncate)]
pub fn cache_truncate(cache: u32, length: u32) -> Js<()> {
    with_cache(cache, |cache| cache.truncate(length as usize))
}

#[wasm_bindgen(js_name = cacheLength)]
pub fn cache_length(cache: u32) -> Js<u32> {
    with_cache(cache, |cache| cache.len() as u32)
}

#[wasm_bindgen(js_name = cacheK)]
pub fn cache_k(cache: u32) -> Js<u32> {
    give(with_cache(cache, |cache| cache.k())?)
}

#[wasm_bindgen(js_name = cacheV)]
pub fn cache_v(cache: u32) -> Js<u32> {
    give(with_cache(cache, |cache| cache.v())?)
}

#[wasm_bindgen(js_name = cacheFree)]
pub fn cache_free(cache: u32) {
    let gone = CACHES.with_borrow_mut(|all| all.remove(cache));
    drop(gone);
}
