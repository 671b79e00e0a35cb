// all-MiniLM-L6-v2, a BERT sentence encoder, on tensorweft's public API: streamed weights, tokenizer and forward pass.

import { Tokenizer } from '@huggingface/tokenizers';

const LAYERS = 6;
const HEADS = 12;
const D = 384;
const HEAD_SIZE = D / HEADS;
const MAX_TOKENS = 256;
const EPS = 1e-12;

/**
 * Loads the model's files from the folder `base`. Weights go to the GPU one tensor at a time as they arrive.
 *
 * @param {import('tensorweft').Context} ctx
 * @param {{ base: string | URL, onProgress?: (loadedBytes: number, totalBytes: number) => void, signal?: AbortSignal }} options
 * @returns {Promise<{ embed(text: string): Promise<Float32Array>, tokenize(text: string): number[], dispose(): void }>}
 */
export async function loadMiniLM(ctx, { base, onProgress, signal }) {
  const folder = new URL(`${base}`.replace(/\/?$/, '/'), globalThis.location?.href);
  const get = async (file) => {
    const response = await fetch(new URL(file, folder), { signal });
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
    return response;
  };
  const json = async (file) => (await get(file)).json();

  const tokenizer = new Tokenizer(await json('tokenizer.json'), await json('tokenizer_config.json'));
  const weights = new Map();
  const dispose = () => {
    for (const weight of weights.values()) weight.dispose();
    weights.clear();
  };
  try {
    const response = await get('model.safetensors');
    for await (const { name, values, shape } of readSafetensors(response.body, onProgress)) {
      weights.set(name, ctx.tensor(values, shape));
    }
    // 1/√d in every place: an RMS norm with these weights divides by the length.
    weights.set('unit', ctx.tensor(new Float32Array(D).fill(1 / Math.sqrt(D)), [D]));
  } catch (error) {
    dispose();
    throw error;
  }

  /** Token ids of `text`, from [CLS] to [SEP]. */
  const tokenize = (text) => {
    const { ids } = tokenizer.encode(text);
    return ids.length <= MAX_TOKENS ? ids : [...ids.slice(0, MAX_TOKENS - 1), ids.at(-1)];
  };

  return {
    tokenize,
    /** The sentence's direction: 384 numbers of length 1. */
    async embed(text) {
      const ids = tokenize(text);
      const embedding = ctx.scope(() => forward(ctx, weights, ids));
      try {
        return await embedding.toArray();
      } finally {
        embedding.dispose();
      }
    },
    dispose,
  };
}

function forward(ctx, weights, ids) {
  const weight = (name) => weights.get(name) ?? missing(name);
  const linear = (x, name, activation) => x.mmBt(weight(`${name}.weight`)).addBias(weight(`${name}.bias`), activation);
  const norm = (x, name) => x.layernorm(weight(`${name}.weight`), weight(`${name}.bias`), EPS);
  /** The norm of x + y. */
  const addNorm = (x, y, name) => x.addLayernorm(y, weight(`${name}.weight`), weight(`${name}.bias`), EPS)[1];

  const t = ids.length;
  const each = (length, f) => Uint32Array.from({ length }, (_, i) => f(i));
  const embeddings = (name, rows) => weight(`embeddings.${name}_embeddings.weight`).gather0(rows);

  // Every token sees every other one. That is a decoding step whose query has HEADS·t heads: head h·t + i is head h
  // of token i, and each run of t heads shares one key head.
  const byHead = each(HEADS * t, (row) => (row % t) * HEADS + Math.floor(row / t));
  const byToken = each(HEADS * t, (row) => (row % HEADS) * t + Math.floor(row / HEADS));
  const attention = (x, name) => {
    const [q, k, v] = ['query', 'key', 'value'].map((part) => linear(x, `${name}.self.${part}`));
    return q
      .dup([HEADS * t, HEAD_SIZE])
      .gather0(byHead)
      .dup([1, HEADS * t * HEAD_SIZE])
      .mhaDecode(k, v, HEADS * t, HEADS, t)
      .dup([HEADS * t, HEAD_SIZE])
      .gather0(byToken)
      .dup([t, D]);
  };

  let x = embeddings('word', ids)
    .add(
      embeddings(
        'position',
        each(t, (i) => i),
      ),
    )
    .add(
      embeddings(
        'token_type',
        each(t, () => 0),
      ),
    );
  x = norm(x, 'embeddings.LayerNorm');
  for (let i = 0; i < LAYERS; i++) {
    const layer = `encoder.layer.${i}`;
    const attended = linear(attention(x, `${layer}.attention`), `${layer}.attention.output.dense`);
    x = addNorm(x, attended, `${layer}.attention.output.LayerNorm`);
    const hidden = linear(x, `${layer}.intermediate.dense`, 'gelu');
    x = addNorm(x, linear(hidden, `${layer}.output.dense`), `${layer}.output.LayerNorm`);
  }

  const mean = ctx.tensor(new Float32Array(t).fill(1 / t), [1, t]).mm(x);
  return mean.rmsnorm(weight('unit'), EPS);
}

function missing(name) {
  throw new Error(`MiniLM: no weight ${name}; was the model disposed?`);
}

/** Yields a safetensors stream's F32 tensors in file order; only one of them is held at a time. */
async function* readSafetensors(stream, onProgress) {
  const reader = new ByteReader(stream);
  try {
    const headerBytes = Number(new DataView((await reader.read(8)).buffer).getBigUint64(0, true));
    const { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(await reader.read(headerBytes)));
    const tensors = Object.entries(header).sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]);
    const total = 8 + headerBytes + Math.max(...tensors.map(([, { data_offsets }]) => data_offsets[1]));

    for (const [
      name,
      {
        dtype,
        shape,
        data_offsets: [begin, end],
      },
    ] of tensors) {
      const bytes = await reader.read(end - begin, (loaded) => onProgress?.(loaded, total));
      if (dtype === 'F32') yield { name, shape, values: new Float32Array(bytes.buffer) };
    }
  } finally {
    await reader.cancel();
  }
}

/** Reads exact numbers of bytes from a stream, each into a buffer of its own. */
class ByteReader {
  #reader;
  #chunk = new Uint8Array();
  #loaded = 0;

  constructor(stream) {
    this.#reader = stream.getReader();
  }

  /** Ends the download; harmless after its end. */
  cancel() {
    return this.#reader.cancel().catch(() => {});
  }

  async read(length, onProgress) {
    const bytes = new Uint8Array(length);
    for (let filled = 0; filled < length; ) {
      if (this.#chunk.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error('the weights ended too early');
        this.#chunk = value;
        this.#loaded += value.length;
        onProgress?.(this.#loaded);
      }
      const part = this.#chunk.subarray(0, length - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#chunk = this.#chunk.subarray(part.length);
    }
    return bytes;
  }
}
