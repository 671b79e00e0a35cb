//! Adapters and contexts: which there are, by index, and several side by side.

use tensorweft::Context;

gpu_test! {
    /// Also says what the tests ran on: `cargo test -- --nocapture` shows it.
    async fn the_adapter_has_a_name(ctx) {
        assert!(!ctx.adapter_name.is_empty());
        let all = Context::enumerate().await;
        let entry = all.iter().find(|(name, backend, _)| *name == ctx.adapter_name && *backend == ctx.backend);
        let (name, backend, kind) = entry.unwrap_or_else(|| panic!("{} is not in {all:?}", ctx.adapter_name));
        let text = format!("tests run on {name:?}, backend {backend:?}, device type {kind:?}");
        #[cfg(target_arch = "wasm32")]
        wasm_bindgen_test::console_log!("{text}");
        #[cfg(not(target_arch = "wasm32"))]
        println!("{text}");
    }
}

gpu_test! {
    async fn every_adapter_makes_a_context() {
        let all = Context::enumerate().await;
        assert!(!all.is_empty(), "no adapter");
        for (index, (name, backend, _)) in all.iter().enumerate() {
            let ctx = match Context::for_adapter(index).await {
                Ok(ctx) => ctx,
                // A GL driver may lack compute shaders. It is listed, and says so.
                Err(e) => {
                    assert_eq!(*backend, wgpu::Backend::Gl, "{name}: {e}");
                    assert!(["no-adapter", "limit-exceeded"].contains(&e.code()), "{e}");
                    continue;
                }
            };
            assert_eq!((&ctx.adapter_name, ctx.backend), (name, *backend));
            assert_eq!(ctx.add(&[1.0, 2.0], &[3.0, 4.0]).await.expect("a sum"), [4.0, 6.0], "{name}");
        }
        let beyond = Context::for_adapter(all.len()).await.expect_err("no such adapter");
        assert_eq!(beyond.code(), "no-adapter");
        assert!(Context::for_adapter(usize::MAX).await.is_err());
        // The same adapter a second time.
        let ctx = Context::for_adapter(0).await.expect("again");
        assert_eq!(ctx.add(&[1.0], &[1.0]).await.expect("a sum"), [2.0]);
    }
}

#[cfg(not(target_arch = "wasm32"))]
gpu_test! {
    async fn software_adapters_are_listed() {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let known = instance.enumerate_adapters(wgpu::Backends::all()).await;
        let listed = Context::enumerate().await;
        for adapter in known {
            let info = adapter.get_info();
            let entry = (info.name, info.backend, info.device_type);
            assert!(listed.contains(&entry), "{entry:?} is not in {listed:?}");
        }
    }
}

gpu_test! {
    async fn contexts_side_by_side() {
        let contexts = [crate::own().await, crate::own().await, crate::own().await];
        let results: Vec<_> = contexts
            .iter()
            .zip([1.0, 2.0, 3.0])
            .map(|(ctx, x)| ctx.relu_t(&ctx.tensor(&[x, -x], &[2])))
            .collect();
        for ((ctx, y), x) in contexts.iter().zip(&results).zip([1.0, 2.0, 3.0]) {
            assert_eq!(ctx.to_vec(y).await.expect("a read"), [x, 0.0]);
        }
        let [first, second, third] = contexts;
        drop(second);
        for ctx in [first, third] {
            assert_eq!(ctx.add(&[1.0], &[2.0]).await.expect("a sum"), [3.0]);
        }
    }
}

gpu_test! {
    /// A tensor may outlive its context's last handle.
    async fn a_tensor_outlives_its_context() {
        let ctx = crate::own().await;
        let y = ctx.relu_t(&ctx.tensor(&[1.0], &[1]));
        drop(ctx);
        assert_eq!((y.shape(), y.error().is_none()), (&[1][..], true));
    }
}
