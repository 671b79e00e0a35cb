//! JavaScript objects without a type of their own.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// A plain object of these fields.
pub(crate) fn object<const N: usize>(fields: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        let _ = Reflect::set(&object, &JsValue::from_str(name), &value);
    }
    object.into()
}

pub(super) fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

pub(super) fn call(object: &JsValue, name: &str, argument: &JsValue) -> Result<JsValue, JsValue> {
    get(object, name).dyn_into::<Function>()?.call1(object, argument)
}

/// The message of whatever was thrown.
pub(super) fn text(value: &JsValue) -> String {
    value.as_string().or_else(|| get(value, "message").as_string()).unwrap_or_default()
}

/// Resolves after `milliseconds`.
pub(super) async fn sleep(milliseconds: f64) {
    let later = Promise::new(&mut |resolve, _| {
        let timer = get(&js_sys::global().into(), "setTimeout");
        let _ =
            timer.dyn_into::<Function>().map(|timer| timer.call2(&JsValue::UNDEFINED, &resolve, &milliseconds.into()));
    });
    let _ = JsFuture::from(later).await;
}
