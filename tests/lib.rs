//! The one test binary: the same tests run natively and in a browser.
//!
//! Natively: `cargo test`. In a browser: `cargo test --target wasm32-unknown-unknown` with
//! `wasm-bindgen-test-runner` as the runner. Both need a WebGPU adapter (a software one will do):
//! without one every GPU test fails, none is skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use tensorweft::Context;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// Declares an async test for native runs and for browsers. With an argument it gets the context that all tests share,
/// so that every test meets the pools and caches that the others left behind.
macro_rules! gpu_test {
    ($(#[$meta:meta])* async fn $name:ident($ctx:ident) $body:block) => {
        gpu_test! { $(#[$meta])* async fn $name() {
            let $ctx = crate::shared().await;
            $body
        } }
    };
    ($(#[$meta:meta])* async fn $name:ident() $body:block) => {
        $(#[$meta])*
        #[cfg(not(target_arch = "wasm32"))]
        #[test]
        fn $name() {
            pollster::block_on(async $body)
        }

        $(#[$meta])*
        #[cfg(target_arch = "wasm32")]
        #[wasm_bindgen_test::wasm_bindgen_test]
        async fn $name() $body
    };
}

const BROWSER: bool = cfg!(target_arch = "wasm32");

/// A context of one's own, for tests that count.
async fn own() -> Context {
    Context::new().await.expect("the tests need a WebGPU adapter")
}

#[cfg(not(target_arch = "wasm32"))]
async fn shared() -> &'static Context {
    static SHARED: std::sync::OnceLock<Context> = std::sync::OnceLock::new();
    SHARED.get_or_init(|| pollster::block_on(own()))
}

#[cfg(target_arch = "wasm32")]
async fn shared() -> &'static Context {
    thread_local!(static SHARED: std::cell::OnceCell<&'static Context> = const { std::cell::OnceCell::new() });
    if let Some(ctx) = SHARED.with(|cell| cell.get().copied()) {
        return ctx;
    }
    let ctx: &'static Context = Box::leak(Box::new(own().await));
    SHARED.with(|cell| *cell.get_or_init(|| ctx))
}

mod check;
mod reference;
#[allow(clippy::allow_attributes_without_reason, reason = "a copy of the contract's own file")]
mod seed_api;
mod table;

mod batching;
mod contexts;
mod extremes;
mod faults;
mod halves;
mod misuse;
mod ops;
mod properties;
mod vectors;
mod warmup;

#[cfg(not(target_arch = "wasm32"))]
mod kernels;
#[cfg(not(target_arch = "wasm32"))]
mod layers;
