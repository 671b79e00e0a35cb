//! How close are two sentences? Prints the cosine of their MiniLM embeddings.
//!
//! ```text
//! node scripts/fetch-models.mjs --only minilm
//! cargo run --release --example minilm -- "The cat sat on the mat." "A feline rested on the rug."
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
