//! SmolLM2-135M, a decoder of the Llama family: its weights and its forward pass.

mod gguf;
mod tokenizer;

use std::{error::Error, path::Path};

use gguf::Gguf;
use tensorweft::{Context, KvCache, Tensor};
use tokenizers::Tokenizer;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

struct Layer {
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attention_output: Tensor,
    ffn_norm: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    /// Of the next layer's attention, or of the output.
    next_norm: Tensor,
    cache: KvCache,
}

pub(crate) struct SmolLm2<'a> {
    ctx: &'a Context,
    pub(crate) tokenizer: Tokenizer,
    /// The token that ends an answer.
    pub(crate) eos: u32,
    d: u32,
    heads: u32,
    kv_heads: u32,
    /// Size of a head.
    dh: u32,
    rope_base: f32,
    eps: f32,
    embedding: Tensor,
    first_norm: Tensor,
    layers: Vec<Layer>,
}

impl<'a> SmolLm2<'a> {
    /// Loads the GGUF file at `path`, with room for `capacity` tokens; `progress` is told the tensors uploaded so far, and their count.
    pub(crate) fn load(
        ctx: &'a Context,
        path: &Path,
        capacity: usize,
        progress: impl Fn(usize, usize),
    ) -> Result<Self> {
        let file = Gguf::open(path)?;
        let heads = file.int("llama.attention.head_count")?;
        let kv_heads: u32 = file.int("llama.attention.head_count_kv")?;
        let dh: u32 = file.int("llama.rope.dimension_count")?;
        let layer_count: usize = file.int("llama.block_count")?;

        let mut done = 0;
        let mut upload = |name: &str, arrange: &dyn Fn(Vec<f32>) -> Vec<f32>| -> Result<Tensor> {
            let (values, shape) = file.tensor(&format!("{name}.weight"))?;
            done += 1;
            progress(done, file.tensor_count());
            Ok(ctx.tensor(&arrange(values), shape))
        };
        let as_stored = |values| values;

        let embedding = upload("token_embd", &as_stored)?;
        let first_norm = upload("blk.0.attn_norm", &as_stored)?;
        let mut layers = Vec::with_capacity(layer_count);
        for i in 0..layer_count {
            let name = |part: &str| format!("blk.{i}.{part}");
            let next_norm = if i + 1 < layer_count { format!("blk.{}.attn_norm", i + 1) } else { "output_norm".into() };
            layers.push(Layer {
                q: upload(&name("attn_q"), &|w| halves(&w, heads, dh))?,
                k: upload(&name("attn_k"), &|w| halves(&w, kv_heads, dh))?,
                v: upload(&name("attn_v"), &as_stored)?,
                attention_output: upload(&name("attn_output"), &as_stored)?,
                ffn_norm: upload(&name("ffn_norm"), &as_stored)?,
                gate: upload(&name("ffn_gate"), &as_stored)?,
                up: upload(&name("ffn_up"), &as_stored)?,
                down: upload(&name("ffn_down"), &as_stored)?,
                next_norm: upload(&next_norm, &as_stored)?,
                cache: ctx.kv_cache(capacity, (kv_heads * dh) as usize),
            });
        }

        Ok(Self {
            ctx,
            tokenizer: tokenizer::load(&file)?,
            eos: file.int("tokenizer.ggml.eos_token_id")?,
            d: file.int("llama.embedding_length")?,
            heads,
            kv_heads,
            dh,
            rope_base: file.float("llama.rope.freq_base")?,
            eps: file.float("llama.attention.layer_norm_rms_epsilon")?,
            embedding,
            first_norm,
            layers,
        })
    }

    /// Token ids of `text`; nothing is put before or after.
    pub(crate) fn tokenize(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.tokenizer.encode(text, false)?.get_ids().to_vec())
    }

    /// Reads a prompt, forgetting what came before; returns the logits of the token after it.
    pub(crate) fn prompt(&mut self, tokens: &[u32]) -> Result<Tensor> {
        if tokens.is_empty() {
            return Err("a prompt needs at least one token".into());
        }
        for layer in &mut self.layers {
            layer.cache.truncate(0);
        }
        self.forward(tokens)
    }

    /// Reads one token more; returns the logits of the token after it.
    pub(crate) fn step(&mut self, token: u32) -> Result<Tensor> {
        self.forward(&[token])
    }

    fn forward(&mut self, tokens: &[u32]) -> Result<Tensor> {
        let ctx = self.ctx;
        let &mut Self { d, heads, kv_heads, dh, rope_base, eps, .. } = self;
        let t = tokens.len() as u32;

        // Each block adds to x, and hands the norm of that to the next one.
        let add_norm = |x: &Tensor, y: &Tensor, w: &Tensor| ctx.add_rmsnorm_t(x, y, w, t, d, eps);
        let mut x = ctx.gather0(&self.embedding, tokens, d as usize);
        let mut h = ctx.rmsnorm_t(&x, &self.first_norm, t, d, eps);
        for layer in &mut self.layers {
            let past = layer.cache.len() as u32;
            let q = ctx.rope_off_t(&linear(ctx, &h, &layer.q), t, heads, dh, rope_base, past);
            layer.cache.append_rope(&linear(ctx, &h, &layer.k), &linear(ctx, &h, &layer.v), kv_heads, rope_base)?;
            let (k, v) = (layer.cache.k(), layer.cache.v());
            let attended = ctx.mha_causal_off_t(&q, &k, &v, t, heads, kv_heads, dh, past);
            (x, h) = add_norm(&x, &linear(ctx, &attended, &layer.attention_output), &layer.ffn_norm);

            let gated = ctx.swiglu_t(&linear(ctx, &h, &layer.gate), &linear(ctx, &h, &layer.up));
            (x, h) = add_norm(&x, &linear(ctx, &gated, &layer.down), &layer.next_norm);
        }

        let last = ctx.gather0(&h, &[t - 1], d as usize);
        // The output matrix is the embedding.
        Ok(linear(ctx, &last, &self.embedding))
    }
}

/// x · wᵀ
fn linear(ctx: &Context, x: &Tensor, w: &Tensor) -> Tensor {
    let [n, k] = [w.shape()[0], w.shape()[1]];
    ctx.mm_bt(x, w, (x.len() / k) as u32, n as u32, k as u32, 1.0)
}

/// Moves the rows of each head from GGUF's interleaved pairs (2i, 2i + 1) to the pairs (i, i + d/2) that rotate-half turns.
fn halves(w: &[f32], heads: u32, dh: u32) -> Vec<f32> {
    let (heads, dh) = (heads as usize, dh as usize);
    let d_in = w.len() / (heads * dh);
    let mut out = Vec::with_capacity(w.len());
    for head in w.chunks_exact(dh * d_in) {
        let rows = || head.chunks_exact(d_in);
        out.extend(rows().step_by(2).flatten());
        out.extend(rows().skip(1).step_by(2).flatten());
    }
    out
}

/// The likeliest token; of equal ones the first.
pub(crate) fn argmax(logits: &[f32]) -> Result<u32> {
    let mut best = 0;
    for (i, &value) in logits.iter().enumerate() {
        if value.is_nan() {
            return Err("the logits hold NaN".into());
        }
        if value > logits[best] {
            best = i;
        }
    }
    Ok(best as u32)
}
