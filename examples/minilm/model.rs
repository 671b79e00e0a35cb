//! all-MiniLM-L6-v2, a BERT sentence encoder: its weights, its tokenizer and its forward pass.

use std::{error::Error, fs, path::Path};

use safetensors::{Dtype, SafeTensors};
use tensorweft::{Activation, Context, Tensor};
use tokenizers::{Tokenizer, TruncationParams};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const LAYERS: usize = 6;
const HEADS: u32 = 12;
/// Width of the embedding.
pub(crate) const D: u32 = 384;
const HEAD_SIZE: u32 = D / HEADS;
const MAX_TOKENS: usize = 256;
const EPS: f32 = 1e-12;

struct Linear {
    weight: Tensor,
    bias: Tensor,
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    output_norm: Norm,
}

pub(crate) struct MiniLm<'a> {
    ctx: &'a Context,
    tokenizer: Tokenizer,
    words: Tensor,
    positions: Tensor,
    token_types: Tensor,
    embedding_norm: Norm,
    layers: Vec<Layer>,
    unit: Tensor,
}

impl<'a> MiniLm<'a> {
    /// Loads `tokenizer.json` and `model.safetensors` from `folder`; `progress` is told the bytes uploaded so far, and all of them.
    pub(crate) fn load(ctx: &'a Context, folder: &Path, progress: impl Fn(u64, u64)) -> Result<Self> {
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
        // The file asks for padding to 128 tokens, which suits batches; one sentence at a time needs none.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(Some(TruncationParams { max_length: MAX_TOKENS, ..Default::default() }))?;

        let bytes = fs::read(folder.join("model.safetensors"))?;
        let mut weights =
            Weights { ctx, file: SafeTensors::deserialize(&bytes)?, done: 0, total: bytes.len() as u64, progress };
        Ok(Self {
            ctx,
            tokenizer,
            words: weights.tensor("embeddings.word_embeddings.weight")?,
            positions: weights.tensor("embeddings.position_embeddings.weight")?,
            token_types: weights.tensor("embeddings.token_type_embeddings.weight")?,
            embedding_norm: weights.norm("embeddings.LayerNorm")?,
            layers: (0..LAYERS).map(|i| weights.layer(i)).collect::<Result<_>>()?,
            unit: ctx.tensor(&[1.0 / (D as f32).sqrt(); D as usize], &[D as usize]),
        })
    }

    /// Token ids of `text`, from `[CLS]` to `[SEP]`.
    pub(crate) fn tokenize(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.tokenizer.encode(text, true)?.get_ids().to_vec())
    }

    /// The sentence's direction: 384 numbers of length 1.
    pub(crate) async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.ctx.to_vec(&self.forward(&self.tokenize(text)?)).await?)
    }

    fn forward(&self, tokens: &[u32]) -> Tensor {
        let ctx = self.ctx;
        let t = tokens.len() as u32;
        let d = D as usize;

        let positions: Vec<u32> = (0..t).collect();
        let mut x = ctx.gather0(&self.words, tokens, d);
        x = ctx.add_t(&x, &ctx.gather0(&self.positions, &positions, d));
        x = ctx.add_t(&x, &ctx.gather0(&self.token_types, &vec![0; tokens.len()], d));
        x = self.norm(&x, &self.embedding_norm);

        for layer in &self.layers {
            let attended = self.linear(&self.attention(&x, layer), &layer.attention_output);
            x = self.add_norm(&x, &attended, &layer.attention_norm);
            let hidden = ctx.add_bias_act_t(&self.product(&x, &layer.up), &layer.up.bias, Activation::Gelu);
            x = self.add_norm(&x, &self.linear(&hidden, &layer.down), &layer.output_norm);
        }

        let average = ctx.tensor(&vec![1.0 / t as f32; tokens.len()], &[1, tokens.len()]);
        let mean = ctx.mm(&average, &x, 1, t, D);
        // An RMS norm weighted by 1/√d divides by the length.
        ctx.rmsnorm_t(&mean, &self.unit, 1, D, EPS)
    }

    /// Every token sees every other one. That is a decoding step whose query has `HEADS · t` heads: head `h · t + i`
    /// is head `h` of token `i`, and each run of `t` heads shares one key head.
    fn attention(&self, x: &Tensor, layer: &Layer) -> Tensor {
        let ctx = self.ctx;
        let t = x.len() as u32 / D;
        let (heads, head_size) = ((HEADS * t) as usize, HEAD_SIZE as usize);
        let by_head: Vec<u32> = (0..HEADS).flat_map(|h| (0..t).map(move |i| i * HEADS + h)).collect();
        let by_token: Vec<u32> = (0..t).flat_map(|i| (0..HEADS).map(move |h| h * t + i)).collect();

        let q = ctx.dup(&self.linear(x, &layer.query), vec![heads, head_size]);
        let q = ctx.dup(&ctx.gather0(&q, &by_head, head_size), vec![1, heads * head_size]);
        let (k, v) = (self.linear(x, &layer.key), self.linear(x, &layer.value));
        let y = ctx.mha_decode_t(&q, &k, &v, HEADS * t, HEADS, HEAD_SIZE, t);
        let y = ctx.gather0(&ctx.dup(&y, vec![heads, head_size]), &by_token, head_size);
        ctx.dup(&y, vec![t as usize, D as usize])
    }

    fn product(&self, x: &Tensor, layer: &Linear) -> Tensor {
        let [n, k] = [layer.weight.shape()[0], layer.weight.shape()[1]];
        self.ctx.mm_bt(x, &layer.weight, (x.len() / k) as u32, n as u32, k as u32, 1.0)
    }

    fn linear(&self, x: &Tensor, layer: &Linear) -> Tensor {
        self.ctx.add_bias_t(&self.product(x, layer), &layer.bias)
    }

    fn norm(&self, x: &Tensor, norm: &Norm) -> Tensor {
        self.ctx.layernorm_t(x, &norm.weight, &norm.bias, x.len() as u32 / D, D, EPS)
    }

    /// The norm of x + y.
    fn add_norm(&self, x: &Tensor, y: &Tensor, norm: &Norm) -> Tensor {
        let (_, normed) = self.ctx.add_layernorm_t(x, y, &norm.weight, &norm.bias, x.len() as u32 / D, D, EPS);
        normed
    }
}

/// Uploads tensors by name from an open safetensors file.
struct Weights<'a, P> {
    ctx: &'a Context,
    file: SafeTensors<'a>,
    done: u64,
    total: u64,
    progress: P,
}

impl<P: Fn(u64, u64)> Weights<'_, P> {
    fn tensor(&mut self, name: &str) -> Result<Tensor> {
        let view = self.file.tensor(name)?;
        if view.dtype() != Dtype::F32 {
            return Err(format!("{name} holds {:?}, not F32", view.dtype()).into());
        }
        let values: Vec<f32> =
            view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        self.done += view.data().len() as u64;
        (self.progress)(self.done, self.total);
        Ok(self.ctx.tensor(&values, view.shape()))
    }

    fn linear(&mut self, name: &str) -> Result<Linear> {
        Ok(Linear { weight: self.tensor(&format!("{name}.weight"))?, bias: self.tensor(&format!("{name}.bias"))? })
    }

    fn norm(&mut self, name: &str) -> Result<Norm> {
        Ok(Norm { weight: self.tensor(&format!("{name}.weight"))?, bias: self.tensor(&format!("{name}.bias"))? })
    }

    fn layer(&mut self, i: usize) -> Result<Layer> {
        let name = |part: &str| format!("encoder.layer.{i}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"))?,
            key: self.linear(&name("attention.self.key"))?,
            value: self.linear(&name("attention.self.value"))?,
            attention_output: self.linear(&name("attention.output.dense"))?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"))?,
            up: self.linear(&name("intermediate.dense"))?,
            down: self.linear(&name("output.dense"))?,
            output_norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}
