//! The command line.

use std::path::Path;

use crate::model::{MiniLm, Result};
use indicatif::{ProgressBar, ProgressStyle};
use tensorweft::Context;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.cache/models/minilm");

pub(crate) fn main() -> Result<()> {
    let sentences: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = sentences.as_slice() else {
        return Err("usage: minilm SENTENCE SENTENCE".into());
    };
    if !Path::new(FOLDER).is_dir() {
        return Err("no weights: run `node scripts/fetch-models.mjs --only minilm` first".into());
    }
    pollster::block_on(run(a, b))
}

async fn run(a: &str, b: &str) -> Result<()> {
    let ctx = Context::new().await?;
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template("MiniLM {wide_bar} {bytes}/{total_bytes}")?);
    let model = MiniLm::load(&ctx, Path::new(FOLDER), |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();

    let (x, y) = (model.embed(a).await?, model.embed(b).await?);
    let cosine: f32 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    println!("{cosine:.4}");
    Ok(())
}
