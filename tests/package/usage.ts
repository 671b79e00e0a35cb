// Uses every export of the package as a strict TypeScript user would; compiled by types.test.mjs, never run.
// Each @ts-expect-error line is a mistake that the types must catch.

import {
  type Activation,
  type AdapterInfo,
  Context,
  type ErrorCode,
  init,
  type KvCache,
  type OpName,
  Tensor,
  TensorError,
} from 'tensorweft';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const sure = <T extends true>(): T | undefined => undefined;

export async function use(bytes: ArrayBuffer, module: WebAssembly.Module): Promise<void> {
  await init();
  await init({});
  for (const wasm of [
    'x.wasm',
    new URL('https://example.org/x.wasm'),
    new Request('x'),
    new Response(),
    bytes,
    new Uint8Array(bytes),
    module,
  ])
    await init({ wasm });
  // @ts-expect-error null is no source
  await init({ wasm: null });
  // @ts-expect-error no such option
  await init({ url: 'x' });

  const adapters: AdapterInfo[] = await Context.enumerate();
  const kinds: ('discrete-gpu' | 'integrated-gpu' | 'virtual-gpu' | 'cpu' | 'other')[] = adapters.map(({ deviceType }) => deviceType);
  const texts: string[] = adapters.flatMap(({ name, backend }) => [name, backend]).concat(kinds);
  const ctx: Context = await Context.create();
  await Context.create({ powerPreference: 'low-power' });
  await Context.forAdapter(adapters[0]?.index ?? 0);
  // @ts-expect-error not one of the preferences
  await Context.create({ powerPreference: 'fast' });
  // @ts-expect-error an index, not an adapter
  await Context.forAdapter(adapters[0]);
  // @ts-expect-error contexts come from create()
  ctx.backend = texts[0];
  const facts: [string, string, boolean] = [ctx.backend, ctx.adapterName, ctx.isSoftware];
  const lost: { reason: 'destroyed' | 'unknown'; message: string } = await ctx.lost;

  const names: readonly OpName[] = ['mm', 'kvCache'];
  await ctx.warmup();
  await ctx.warmup(names, { onProgress: (done: number, total: number) => console.log(done / total) });
  await ctx.warmup(['softmax'] as const, {});
  // @ts-expect-error no such op
  await ctx.warmup(['matrixProduct']);
  // @ts-expect-error a method, but no op
  await ctx.warmup(['toArray']);
  // @ts-expect-error no method
  await ctx.warmup(['shape']);
  // @ts-expect-error tensors come from contexts and ops
  new Tensor();

  const x: Tensor = ctx.tensor(new Float32Array(6), [2, 3]);
  const y = ctx.tensor([1, 2, 3, 4, 5, 6] as const, [2, 3] as const);
  const e = ctx.empty([3, 2]);
  const halves: Tensor[] = [
    ctx.tensorF16(new Float32Array(6), [2, 3]),
    ctx.tensorF16([1, 2] as const, [2]),
    ctx.tensorF16(new Uint16Array(2), [2]),
    x.to('float16'),
    x.to('float32'),
  ];
  // @ts-expect-error bytes are no halves
  ctx.tensorF16(new Uint8Array(6), [2, 3]);
  // @ts-expect-error no such dtype
  x.to('f16');
  // @ts-expect-error bytes are no floats
  ctx.tensor(new Uint8Array(6), [2, 3]);
  // @ts-expect-error a shape is a list
  ctx.tensor([1], 1);
  // @ts-expect-error the shape is needed
  ctx.tensor([1]);
  // @ts-expect-error read-only
  x.shape[0] = 6;
  sure<Equal<typeof x.shape, readonly number[]>>();
  sure<Equal<typeof x.dtype, 'float32' | 'float16'>>();
  const numbers: [number, boolean] = [x.size, x.disposed];

  const values: Float32Array = await x.toArray();
  const outs: Tensor[] = [
    x.mm(e),
    x.mmBt(y),
    x.mmBt(y, 0.5),
    x.silu(),
    x.sigmoid(),
    x.sqrt(),
    x.gelu(),
    x.geluTanh(),
    x.relu(),
    x.add(y),
    x.sub(y),
    x.mul(y),
    x.div(y),
    x.mulScalar(2),
    x.mulScalar(y),
    x.addBias(y),
    x.addBias(y, 'gelu'),
    x.addBias(y, undefined),
    x.dup([6]),
    x.gather0([0]),
    x.gather0(new Uint32Array(1)),
    x.transpose2d(),
    x.softmax(),
    x.rmsnorm(y),
    x.rmsnorm(y, 1e-6),
    x.layernorm(y, y),
    x.layernorm(y, y, 1e-6),
    x.rope(1),
    x.rope(1, 1e6),
    x.ropeOff(1, 1e4, 3),
    x.mhaDecode(y, y, 1, 1),
    x.mhaDecode(y, y, 1, 1, 2),
    x.mhaCausal(y, y, 1, 1),
    x.mhaCausalOff(y, y, 1, 1, 0),
    x.attention(y, y),
    x.attention(y, y, 1),
    x.swiglu(y),
    x.geglu(y),
    x.gegluTanh(y),
  ];
  const [sum, normed]: [Tensor, Tensor] = x.addRmsnorm(y, y);
  outs.push(sum, normed, ...x.addRmsnorm(y, y, 1e-6), ...x.addLayernorm(y, y, y), ...x.addLayernorm(y, y, y, 1e-6));
  const activation: Activation = 'geluTanh';
  x.addBias(y, activation);
  // @ts-expect-error no such activation
  x.addBias(y, 'tanh');
  // @ts-expect-error two results, not one
  x.addRmsnorm(y, y).dispose();
  // @ts-expect-error no number in the place of a tensor
  x.add(1);
  // @ts-expect-error no null in the place of a tensor
  x.mm(null);
  // @ts-expect-error the bias is needed
  x.layernorm(y);
  // @ts-expect-error the offset is needed
  x.ropeOff(1, 1e4);
  // @ts-expect-error ids are whole numbers
  x.gather0(new Float32Array(1));
  // @ts-expect-error an op gives a tensor, not a Promise
  x.relu().then(() => {});
  // @ts-expect-error read first
  const wrong: Float32Array = x.relu();

  const host: Float32Array[] = await Promise.all([
    ctx.matmul(values, values, 2, 3, 2),
    ctx.matmulBt(values, values, 2, 2, 3),
    ctx.matmulBt(values, values, 2, 2, 3, 0.5),
    ctx.add(values, values),
    ctx.silu(values),
    ctx.softmax(values, 2, 3),
    ctx.layernorm(values, values, values, 2, 3),
    ctx.layernorm(values, values, values, 2, 3, 1e-6),
    ctx.attention(values, values, values, 2, 2, 3, 3),
    ctx.attention(values, values, values, 2, 2, 3, 3, 1),
  ]);
  // @ts-expect-error host-array ops take arrays, not tensors
  await ctx.silu(x);

  const cache: KvCache = ctx.kvCache(8, 3);
  ctx.kvCache(8, 3, 'float16').dispose();
  cache.append(x, y);
  cache.appendRope(x, y, 1);
  cache.appendRope(x, y, 1, 1e4);
  cache.truncate(1);
  const rows: [Tensor, Tensor, number, number] = [cache.k, cache.v, cache.length, cache.capacity];
  // @ts-expect-error read-only
  cache.length = 0;
  cache.dispose();
  cache[Symbol.dispose]();

  const kept: { a: Tensor; b: Tensor[] } = ctx.scope(() => ({ a: x.relu(), b: [x.silu()] }));
  sure<Equal<ReturnType<typeof ctx.memory>, { tensors: number; liveBytes: number; pooledBytes: number; peakBytes: number }>>();
  x.dispose();
  x[Symbol.dispose]();
  ctx.destroy();
  ctx[Symbol.dispose]();

  try {
    y.mm(y);
  } catch (error) {
    if (error instanceof TensorError) {
      const code: ErrorCode = error.code;
      const text: string = error.message;
      // @ts-expect-error no such code
      if (error.code === 'shape') throw error;
      console.log(code, text);
    }
  }
  console.log(facts, lost, numbers, outs, host, rows, kept, wrong, halves);
}
