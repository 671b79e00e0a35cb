//! Answers a question with SmolLM2-135M-Instruct, token by token.
//!
//! ```text
//! node scripts/fetch-models.mjs --only smollm2
//! cargo run --release --example smollm2 -- "What is gravity? Answer in one sentence."
//! cargo run --release --example smollm2 -- --continue "The capital of France is"
//! ```

// The program is native. In a browser's build it is empty, so that `cargo test` can build all that it builds there.
#[cfg(not(target_arch = "wasm32"))]
mod cli;
#[cfg(not(target_arch = "wasm32"))]
mod model;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> model::Result<()> {
    cli::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
