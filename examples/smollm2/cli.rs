//! The command line.

use std::{io::Write, path::Path};

use crate::model::{Result, SmolLm2, argmax};
use indicatif::{ProgressBar, ProgressStyle};
use tensorweft::Context;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.cache/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
const MAX_TOKENS: usize = 2048;

pub(crate) fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let prompt = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--continue", text] => text.to_string(),
        [question] => format!(
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n\
             <|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        ),
        _ => return Err("usage: smollm2 QUESTION | smollm2 --continue TEXT".into()),
    };
    if !Path::new(FILE).is_file() {
        return Err("no weights: run `node scripts/fetch-models.mjs --only smollm2` first".into());
    }
    pollster::block_on(run(&prompt))
}

async fn run(prompt: &str) -> Result<()> {
    let ctx = Context::new().await?;
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template("SmolLM2 {wide_bar} {pos}/{len} tensors")?);
    let mut model = SmolLm2::load(&ctx, Path::new(FILE), MAX_TOKENS, |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();

    let tokenizer = model.tokenizer.clone();
    let mut text = tokenizer.decode_stream(true);
    let tokens = model.tokenize(prompt)?;
    let mut logits = model.prompt(&tokens)?;
    for _ in tokens.len()..MAX_TOKENS {
        let token = argmax(&ctx.to_vec(&logits).await?)?;
        if token == model.eos {
            break;
        }
        if let Some(piece) = text.step(token)? {
            print!("{piece}");
            std::io::stdout().flush()?;
        }
        logits = model.step(token)?;
    }
    println!();
    Ok(())
}
