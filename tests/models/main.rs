//! Runs the two example models on their real weights and holds them to float64 references.
//!
//! Not part of the ordinary test run: `node scripts/fetch-models.mjs && cargo test --test models`;
//! add `-- --include-ignored` for all 96 greedy tokens.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../examples/minilm/model.rs"]
mod minilm;
#[path = "../../examples/smollm2/model/mod.rs"]
mod smollm2;

use std::path::{Path, PathBuf};

use minilm::MiniLm;
use serde_json::Value;
use smollm2::{SmolLm2, argmax};
use tensorweft::Context;

const MINILM: &str = include_str!("minilm.json");
const SMOLLM2: &str = include_str!("smollm2.json");

#[test]
fn minilm_embeds_five_sentences() {
    let expected = json(MINILM);
    pollster::block_on(async {
        let ctx = Context::new().await.expect("a WebGPU adapter");
        let model = MiniLm::load(&ctx, &weights("minilm"), |_, _| {}).unwrap();

        let mut embeddings = Vec::new();
        for sentence in list(&expected["sentences"]) {
            let text = sentence["text"].as_str().unwrap();
            assert_eq!(model.tokenize(text).unwrap(), ids(&sentence["token_ids"]), "token ids of {text:?}");
            let embedding = model.embed(text).await.unwrap();
            assert_eq!(embedding.len(), minilm::D as usize);
            for (i, want) in list(&sentence["embedding"]).iter().enumerate() {
                assert_close(embedding[i], want, 1e-5, &format!("component {i} of {text:?}"));
            }
            embeddings.push(embedding);
        }

        for (a, row) in embeddings.iter().zip(list(&expected["cosine"])) {
            for (b, want) in embeddings.iter().zip(list(row)) {
                let cosine: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                assert_close(cosine, want, 1e-5, "cosine");
            }
        }
    });
}

/// Every listed logit of the three prompts, and 32 greedy tokens after the shortest.
#[test]
fn smollm2_logits_and_greedy_tokens() {
    let expected = json(SMOLLM2);
    pollster::block_on(async {
        let ctx = Context::new().await.expect("a WebGPU adapter");
        let mut model = load_smollm2(&ctx);
        for prompt in list(&expected["prompts"]) {
            let name = prompt["name"].as_str().unwrap();
            let tokens = model.tokenize(prompt["text"].as_str().unwrap()).unwrap();
            assert_eq!(tokens, ids(&prompt["token_ids"]), "token ids of {name}");

            let logits = ctx.to_vec(&model.prompt(&tokens).unwrap()).await.unwrap();
            assert_eq!(logits.len(), 49152);
            for listed in ["top20", "probe"] {
                for pair in list(&prompt["last_logits"][listed]) {
                    let id = pair[0].as_u64().unwrap() as usize;
                    assert_close(logits[id], &pair[1], 1e-3, &format!("logit {id} of {name}"));
                }
            }
            if name == "plain" {
                assert_greedy(&ctx, &mut model, prompt).await;
            }
        }
    });
}

#[test]
#[ignore = "minutes on a software adapter; run by name or with --include-ignored"]
fn smollm2_all_greedy_tokens() {
    let expected = json(SMOLLM2);
    pollster::block_on(async {
        let ctx = Context::new().await.expect("a WebGPU adapter");
        let mut model = load_smollm2(&ctx);
        for prompt in list(&expected["prompts"]) {
            assert_greedy(&ctx, &mut model, prompt).await;
        }
    });
}

/// Answers a prompt with the likeliest token each time, past the end token too, and compares tokens and text.
async fn assert_greedy(ctx: &Context, model: &mut SmolLm2<'_>, prompt: &Value) {
    let expected = &prompt["greedy32"];
    let mut logits = model.prompt(&ids(&prompt["token_ids"])).unwrap();
    let mut tokens = Vec::new();
    for _ in 0..32 {
        let token = argmax(&ctx.to_vec(&logits).await.unwrap()).unwrap();
        tokens.push(token);
        logits = model.step(token).unwrap();
    }
    assert_eq!(tokens, ids(&expected["token_ids"]), "greedy tokens of {}", prompt["name"]);
    assert_eq!(model.tokenizer.decode(&tokens, false).unwrap(), expected["text"].as_str().unwrap());
    let end = tokens.iter().position(|&token| token == model.eos);
    assert_eq!(end, expected["first_eos_index"].as_u64().map(|i| i as usize));
}

fn load_smollm2(ctx: &Context) -> SmolLm2<'_> {
    SmolLm2::load(ctx, &weights("smollm2").join("SmolLM2-135M-Instruct.Q4_1.gguf"), 256, |_, _| {}).unwrap()
}

fn weights(model: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/models").join(model);
    assert!(folder.is_dir(), "no weights: run `node scripts/fetch-models.mjs` first");
    folder
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    list(value).iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

fn assert_close(got: f32, want: &Value, tolerance: f64, what: &str) {
    let want = want.as_f64().unwrap();
    let off = (f64::from(got) - want).abs();
    assert!(off <= tolerance, "{what}: {got} is {off:e} from {want}");
}
