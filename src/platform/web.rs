//! A browser: its own objects where wgpu's calls cost more or hide what is needed.

mod adapters;
mod commands;
mod object;

use std::sync::Arc;

use js_sys::{Array, Object, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

pub(crate) use self::adapters::{adapters, answer, backend_name, type_name};
pub(crate) use self::commands::{Commands, Group, Layout, Pipeline};
pub(crate) use self::object::object;

use self::object::{call, get, sleep, text};
use super::target::Target;
use crate::error::ErrorKind;
use crate::event::{Event, Lost};
use crate::kernel::Recipe;
use crate::verdict::Verdict;

/// In a browser the caller's line is one of the facade; the JavaScript stack tells more.
pub(crate) const LOCATIONS: bool = false;

pub(crate) fn warn(message: &str) {
    let console = get(&js_sys::global().into(), "console");
    let _ = call(&console, "warn", &JsValue::from_str(message));
}

impl Target<'_> {
    /// Writes all `items` of a typed array, each of so many bytes, straight from the page's memory and in slices.
    /// `false` if the browser throws; faults of the GPU are caught by the error scope around the upload.
    pub(crate) fn write_array(&self, array: &Object, items: u32, bytes_each: u32) -> bool {
        const SLICE: u32 = 4 << 20;
        let (Some(queue), Some(buffer)) = (self.queue.as_webgpu(), self.buffer.as_webgpu()) else { return false };
        (0..items).step_by(SLICE as usize).all(|at| {
            let write = queue.write_buffer_with_f64_and_buffer_source_and_f64_and_f64(
                buffer,
                f64::from(at) * f64::from(bytes_each),
                array,
                f64::from(at),
                f64::from(SLICE.min(items - at)),
            );
            write.is_ok()
        })
    }
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
        let device: Scoped = commands::device(device).unchecked_into();
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
            let kind = if *filter == Filter::OutOfMemory { ErrorKind::OutOfMemory } else { ErrorKind::Internal };
            return Err(kind(text));
        }
    }
    Ok(())
}

/// A pipeline to compile ahead of time; `done` gets the outcome.
pub(crate) struct Job {
    pub(crate) layout: Arc<Layout>,
    pub(crate) recipe: Recipe,
    pub(crate) done: Box<dyn FnOnce(std::result::Result<Pipeline, ErrorKind>)>,
}

/// Milliseconds of compiling after which the page may run.
const TURN: f64 = 8.0;

/// Has the browser compile pipelines, all at once and without blocking the page.
pub(crate) fn compile(device: &wgpu::Device, lost: &Arc<Event<Lost>>, jobs: Vec<Job>) {
    let (device, lost) = (device.clone(), lost.clone());
    wasm_bindgen_futures::spawn_local(async move {
        let mut since = js_sys::Date::now();
        for Job { layout, recipe, done } in jobs {
            if js_sys::Date::now() - since > TURN {
                sleep(0.0).await;
                since = js_sys::Date::now();
            }
            if let Some(lost) = lost.get() {
                done(Err(ErrorKind::DeviceLost(lost.message)));
                continue;
            }
            let pipeline = JsFuture::from(layout.pipeline_async(&device, recipe));
            wasm_bindgen_futures::spawn_local(async move {
                done(match pipeline.await {
                    Ok(pipeline) => Ok(pipeline.unchecked_into()),
                    Err(why) => Err(ErrorKind::Internal(text(&why))),
                });
            });
        }
    });
}

/// Waits for a mapping, which the browser drives. `None` if it can no longer come.
pub(crate) async fn arrival(_: &wgpu::Device, mapped: &Arc<Event<bool>>, lost: &Event<Lost>) -> Option<bool> {
    lost.or(mapped.wait()).await
}
