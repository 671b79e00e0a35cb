// Loading, adapters, overlapping reads, disposal under a pending read, lost devices: every Promise settles.

import { close, ok, rejects, same, settles, throws } from '../expect.mjs';
import { values } from '../reference.mjs';

let copies = 0;
/** A fresh, uninitialised copy of the package. */
const freshPackage = () => import(`/fresh${copies++}/index.js`);

/** Replaces a method of navigator.gpu while `f` runs. */
async function withRequestAdapter(replacement, f) {
  const original = GPU.prototype.requestAdapter;
  GPU.prototype.requestAdapter = replacement;
  try {
    return await f();
  } finally {
    GPU.prototype.requestAdapter = original;
  }
}

async function adds(ctx) {
  close(
    await ctx
      .tensor([1, 2], [2])
      .add(ctx.tensor([3, 4], [2]))
      .toArray(),
    [4, 6],
  );
}

export const lifecycle = {
  'exports and members are those of the contract': async ({ tw }) => {
    same(Object.keys(tw).sort(), ['Context', 'KvCache', 'Tensor', 'TensorError', 'init']);
    const members = (type) => Object.getOwnPropertyNames(type.prototype);
    for (const name of [
      'tensor',
      'tensorF16',
      'empty',
      'matmul',
      'matmulBt',
      'add',
      'silu',
      'softmax',
      'layernorm',
      'attention',
      'kvCache',
      'warmup',
      'memory',
      'scope',
      'destroy',
    ]) {
      ok(members(tw.Context).includes(name), `Context lacks ${name}`);
    }
    for (const type of [tw.Context, tw.Tensor, tw.KvCache])
      ok(typeof type.prototype[Symbol.dispose] === 'function', `${type.name} lacks [Symbol.dispose]`);
  },
  'Context says where it runs': async ({ context }) => {
    const ctx = await context();
    ok(typeof ctx.backend === 'string' && ctx.backend.length > 0, 'no backend');
    ok(typeof ctx.adapterName === 'string' && ctx.adapterName.length > 0, 'no adapter name');
    same(typeof ctx.isSoftware, 'boolean');
    ok(ctx.lost instanceof Promise, 'lost is no Promise');
    same((await settles(ctx.lost, 0.05)).how, 'hang', 'lost of a living context');
  },
  'enumerate lists adapters that forAdapter takes': async ({ tw }) => {
    const list = await tw.Context.enumerate();
    ok(list.length > 0, 'no adapter');
    for (const [i, { index, name, backend, deviceType }] of list.entries()) {
      same(index, i);
      ok(typeof name === 'string' && name.length > 0 && typeof backend === 'string', 'an adapter without a name');
      ok(['discrete-gpu', 'integrated-gpu', 'virtual-gpu', 'cpu', 'other'].includes(deviceType), `device type ${deviceType}`);
      const ctx = await tw.Context.forAdapter(index);
      await adds(ctx);
      ctx.destroy();
    }
  },
  'without WebGPU: no adapters, and a plain rejection': async () => {
    const fresh = await freshPackage();
    const own = Object.getOwnPropertyDescriptor(Navigator.prototype, 'gpu');
    Object.defineProperty(Navigator.prototype, 'gpu', { configurable: true, get: () => undefined });
    try {
      same(await fresh.Context.enumerate(), []);
      await rejects(fresh.Context.create(), fresh.TensorError, 'no-webgpu');
    } finally {
      Object.defineProperty(Navigator.prototype, 'gpu', own);
    }
    const ctx = await fresh.Context.create();
    await adds(ctx);
    ctx.destroy();
  },
  'without an adapter: an empty list, and a plain rejection': async ({ tw, TensorError }) => {
    await withRequestAdapter(
      async () => null,
      async () => {
        same(await tw.Context.enumerate(), []);
        await rejects(tw.Context.create(), TensorError, 'no-adapter');
      },
    );
    await withRequestAdapter(
      async () => {
        throw new Error('refused');
      },
      async () => {
        await rejects(tw.Context.create(), TensorError, ['no-adapter', 'internal']);
      },
    );
    const ctx = await tw.Context.create({ powerPreference: 'low-power' });
    await adds(ctx);
    ctx.destroy();
  },
  'init: twice at once, and again': async () => {
    const fresh = await freshPackage();
    await Promise.all([fresh.init(), fresh.init()]);
    const ctx = await fresh.Context.create();
    const x = ctx.tensor([1, 2], [2]);
    await fresh.init();
    close(await x.relu().toArray(), [1, 2]);
    ctx.destroy();
  },
  'init: creating two contexts at once loads once': async () => {
    const fresh = await freshPackage();
    const [a, b] = await Promise.all([fresh.Context.create(), fresh.Context.create()]);
    await Promise.all([adds(a), adds(b)]);
    a.destroy();
    await adds(b);
    b.destroy();
  },
  'init: a 404 says so and can be retried': async () => {
    const fresh = await freshPackage();
    await rejects(fresh.init({ wasm: '/nowhere/tensorweft_bg.wasm' }), fresh.TensorError, 'wasm-load', /404|nowhere/);
    await rejects(fresh.init({ wasm: '/tests/index.html' }), fresh.TensorError, 'wasm-load');
    await fresh.init();
    const ctx = await fresh.Context.create();
    await adds(ctx);
    ctx.destroy();
  },
  'init: the wasm of something else says so and can be retried': async () => {
    const { init, Context, TensorError } = await freshPackage();
    const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    for (const wasm of [empty, await WebAssembly.compile(empty), new Uint8Array(3), Uint8Array.of(0, 0x61, 0x73, 0x6d, 9, 9, 9, 9)]) {
      await rejects(init({ wasm }), TensorError, 'wasm-load');
    }
    await init();
    const ctx = await Context.create();
    await adds(ctx);
    ctx.destroy();
  },
  'init: takes bytes, a module, a response, a request and a URL': async () => {
    const address = new URL('/dist/tensorweft_bg.wasm', location.href);
    const bytes = await (await fetch(address)).arrayBuffer();
    const sources = [
      bytes,
      new Uint8Array(bytes),
      await WebAssembly.compile(bytes),
      await fetch(address),
      new Request(address),
      address,
      address.href,
    ];
    for (const wasm of sources) {
      const fresh = await freshPackage();
      await fresh.init({ wasm });
      const ctx = await fresh.Context.create();
      await adds(ctx);
      ctx.destroy();
    }
  },
  'init: works where the server calls wasm octet-stream': async () => {
    const fresh = await import('/octet/index.js');
    const ctx = await fresh.Context.create();
    await adds(ctx);
    ctx.destroy();
  },
  'overlapping reads all resolve, each with its own values': async ({ context }) => {
    const ctx = await context();
    const a = ctx.tensor([1, 2, 3, 4], [2, 2]);
    const host = Float32Array.of(1, 2, 3, 4);
    const all = [];
    for (let i = 0; i < 200; i++) {
      const y = a.mulScalar(i);
      const z = ctx.tensor(values(i + 1, i), [i + 1]).relu();
      all.push(
        Promise.all([y.toArray(), y.toArray(), z.toArray(), ctx.matmul(host, host, 2, 2, 2), ctx.matmul(host, host, 2, 2, 2)]).then(
          async ([y1, y2, z1, m1, m2]) => {
            close(y1, [i, 2 * i, 3 * i, 4 * i]);
            close(y2, [i, 2 * i, 3 * i, 4 * i]);
            close(
              z1,
              Array.from(values(i + 1, i), (v) => Math.max(v, 0)),
            );
            close(m1, [7, 10, 15, 22]);
            close(m2, [7, 10, 15, 22]);
            const inside = y.relu(); // an op called from a continuation
            y.dispose();
            z.dispose();
            return inside.toArray().then((r) => {
              inside.dispose();
              close(r, [i, 2 * i, 3 * i, 4 * i]);
            });
          },
        ),
      );
    }
    await Promise.all(all);
  },
  'a read that is pending while its tensor is disposed resolves': async ({ context }) => {
    const ctx = await context();
    const reads = [];
    for (let i = 0; i < 100; i++) {
      const x = ctx.tensor([i, i + 1], [2]);
      reads.push(x.toArray());
      x.dispose();
    }
    (await Promise.all(reads)).forEach((got, i) => close(got, [i, i + 1]));
    const y = ctx.tensor([1, 2], [2]);
    const read = y.toArray();
    await null;
    y.dispose();
    close(await read, [1, 2]);
  },
  'inputs may be disposed right after the op': async ({ context, spy }) => {
    const ctx = await context();
    const reads = [];
    for (let i = 0; i < 500; i++) {
      const [a, b] = [ctx.tensor([i, 1, 0, 1], [2, 2]), ctx.tensor([1, 0, 0, 2], [2, 2])];
      const y = a.mm(b);
      a.dispose();
      b.dispose();
      const noise = ctx.tensor([9, 9, 9, 9], [2, 2]);
      reads.push(
        y.toArray().then((got) => {
          y.dispose();
          close(got, [i, 2, 0, 2]);
        }),
      );
      noise.dispose();
    }
    await Promise.all(reads);
    same(spy.uncaptured, [], 'uncaptured errors');
  },
  'what was read stays as it is while memory grows': async ({ context }) => {
    const ctx = await context();
    const x = ctx.tensor(values(1000), [1000]);
    const got = await x.toArray();
    const copy = got.slice();
    const big = ctx.tensor(new Float32Array(2 ** 23), [2 ** 23]);
    close(
      await big
        .relu()
        .dup([2 ** 22, 2])
        .gather0([5])
        .toArray(),
      [0, 0],
    );
    big.dispose();
    same([...got], [...copy]);
  },
  'destroy: lost settles, later calls throw, others live on': async ({ context, tw, TensorError }) => {
    const [other, ctx] = [await context(), await tw.Context.create()];
    const x = ctx.tensor([1, 2], [2]);
    const pending = x.relu().toArray();
    ctx.destroy();
    ctx.destroy();
    ctx[Symbol.dispose]();
    const lost = await settles(ctx.lost);
    same(lost.how, 'value', 'lost');
    same(lost.value.reason, 'destroyed');
    same(typeof lost.value.message, 'string');
    const read = await settles(pending);
    ok(read.how !== 'hang', 'a pending read hangs after destroy()');
    if (read.how === 'error') ok(read.error instanceof TensorError, 'the rejection is no TensorError');
    throws(() => ctx.tensor([1], [1]), TensorError, ['device-lost', 'disposed']);
    throws(() => x.relu(), TensorError, ['device-lost', 'disposed']);
    throws(() => x.toArray(), TensorError, ['device-lost', 'disposed']);
    throws(() => ctx.silu(Float32Array.of(1)), TensorError, ['device-lost', 'disposed']);
    throws(() => ctx.kvCache(1, 1), TensorError, ['device-lost', 'disposed']);
    x.dispose();
    await adds(other);
  },
  'a device lost behind our back: reads settle, calls say so, a new context works': async ({ tw, TensorError, spy }) => {
    const ctx = await tw.Context.create();
    const device = spy.devices.at(-1);
    const x = ctx.tensor(values(64 * 64), [64, 64]);
    const y = x.mm(x);
    const reads = [y.toArray(), x.toArray(), ctx.matmul(values(16), values(16), 4, 4, 4)];
    device.destroy();
    for (const { how, error } of await Promise.all(reads.map((read) => settles(read, 2)))) {
      ok(how !== 'hang', 'a pending read hangs');
      if (how === 'error') {
        ok(error instanceof TensorError, `not a TensorError: ${error}`);
        same(error.code, 'device-lost');
      }
    }
    same((await settles(ctx.lost, 2)).how, 'value', 'lost');
    const later = (f) => new Promise((resolve) => resolve(f()));
    await rejects(
      later(() => x.relu().toArray()),
      TensorError,
      'device-lost',
    );
    await rejects(
      later(() => ctx.add(Float32Array.of(1), Float32Array.of(1))),
      TensorError,
      'device-lost',
    );
    ctx.destroy();
    const next = await tw.Context.create();
    await adds(next);
    next.destroy();
  },
  'warmup compiles ahead of time, without blocking the page': async ({ tw, spy }) => {
    const names = ['add', 'softmax', 'rmsnorm', 'mulScalar', 'kvCache'];
    const observes = globalThis.PerformanceObserver?.supportedEntryTypes?.includes('longtask');
    let [ctx, total, tasks] = [undefined, 0, undefined];
    // Another program may take the processor away for as long: one try of three without is enough.
    for (let i = 0; i < 3 && tasks?.length !== 0; i++) {
      ctx?.destroy();
      ctx = await tw.Context.create();
      tasks = [];
      const observer =
        observes && new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration))));
      if (observes) observer.observe({ entryTypes: ['longtask'] });
      spy.reset();
      const heard = [];
      const warming = ctx.warmup(names, { onProgress: (done, all) => heard.push([done, all]) });
      ok(warming instanceof Promise, 'no Promise');
      same(await warming, undefined);
      total = heard.at(-1)[1];
      same(heard.at(-1)[0], total, 'progress in the end');
      ok(
        heard.every(([done, all], k) => all === total && done > (heard[k - 1]?.[0] ?? 0)),
        `progress: ${JSON.stringify(heard)}`,
      );
      same([spy.n.pipeline, spy.n.shader], [total, total], 'pipelines and shaders');
      await new Promise((next) => setTimeout(next, 100));
      if (observes) observer.disconnect();
    }
    same(tasks, [], 'tasks of 50 ms and more');

    for (const d of [1, 7, 128, 600, 3000, 5000, 9000]) {
      const w = ctx.tensor(new Float32Array(d).fill(1), [d]);
      const y = ctx.scope(() =>
        w
          .dup([1, d])
          .add(w)
          .mulScalar(0.5)
          .mulScalar(ctx.tensor([2], [1]))
          .rmsnorm(w)
          .softmax(),
      );
      close(await y.toArray(), new Array(d).fill(1 / d), { abs: 1e-5 });
    }
    await ctx.warmup(['add']);
    await ctx.warmup([]);
    same(spy.n.pipeline, total, 'pipelines in the end');
    ctx.destroy();
  },
  'warmup knows every op of Tensor, empty and kvCache': async ({ context, tw, TensorError }) => {
    const ctx = await context();
    const members = Object.entries(Object.getOwnPropertyDescriptors(tw.Tensor.prototype));
    const ops = members.filter(([name, { value }]) => typeof value === 'function' && !['constructor', 'toArray', 'dispose'].includes(name));
    ok(ops.length > 25, `only ${ops.length} ops`);
    // The call names the first that it does not know, and compiles nothing.
    for (const name of [...ops.map(([name]) => name), 'empty', 'kvCache'])
      throws(() => ctx.warmup([name, 'other']), TensorError, 'invalid-argument', /^warmup: .*other/s);
    for (const name of ['toArray', 'dispose', 'shape', 'MM', ''])
      throws(() => ctx.warmup([name, 'mm']), TensorError, 'invalid-argument', new RegExp(`^warmup: .*"${name}"`, 's'));
  },
  'warmup that is not waited for, and such as cannot be': async ({ tw, TensorError, spy }) => {
    const ctx = await tw.Context.create();
    for (const bad of ['add', [1], ['add', 'plus'], {}, null]) throws(() => ctx.warmup(bad), TensorError, 'invalid-argument', /^warmup: /);
    throws(() => ctx.warmup(['add'], { onProgress: 1 }), TensorError, 'invalid-argument', /onProgress/);
    const both = [ctx.warmup(['relu', 'add']), ctx.warmup(['add'])];
    close(await ctx.tensor([-1, 2], [2]).relu().toArray(), [0, 2]);
    await Promise.all(both);
    const thrown = await settles(
      ctx.warmup(['silu'], {
        onProgress: () => {
          throw new RangeError('mine');
        },
      }),
    );
    ok(thrown.error instanceof RangeError, 'what the callback threw is lost');

    const { createComputePipelineAsync } = GPUDevice.prototype;
    GPUDevice.prototype.createComputePipelineAsync = async () => {
      throw new Error('the driver said no');
    };
    try {
      await rejects(ctx.warmup(['gelu']), TensorError, 'internal', /^warmup: GELU: the driver said no/);
    } finally {
      GPUDevice.prototype.createComputePipelineAsync = createComputePipelineAsync;
    }
    close(await ctx.tensor([0, 20], [2]).gelu().toArray(), [0, 20]);

    const pending = ctx.warmup(['layernorm']);
    await new Promise((next) => setTimeout(next)); // by now the browser compiles
    spy.devices.at(-1).destroy();
    const { how, error } = await settles(pending);
    ok(how === 'value' || error?.code === 'device-lost', `a warm-up cut short: ${how} ${error}`);
    await ctx.lost;
    throws(() => ctx.warmup(['add']), TensorError, 'device-lost');
  },
  'scope disposes what was made and not returned': async ({ context, TensorError }) => {
    const ctx = await context();
    const before = ctx.memory().tensors;
    let inner;
    const out = ctx.scope(() => {
      const x = ctx.tensor([1, 2], [2]);
      inner = x.relu();
      return { list: [x.mulScalar(2), { deep: inner.mulScalar(3) }], other: 5 };
    });
    same(inner.disposed, true, 'what was not returned');
    same(out.other, 5);
    close(await out.list[0].toArray(), [2, 4]);
    close(await out.list[1].deep.toArray(), [3, 6]);
    out.list[0].dispose();
    out.list[1].deep.dispose();
    let leaked;
    try {
      ctx.scope(() => {
        leaked = ctx.tensor([1], [1]);
        throw new RangeError('mine');
      });
      ok(false, 'the error was swallowed');
    } catch (error) {
      ok(error instanceof RangeError, `another error came out: ${error}`);
    }
    same(leaked.disposed, true, 'what a throwing scope made');
    const kept = ctx.scope(() => ctx.scope(() => ctx.tensor([4], [1])).mulScalar(2));
    close(await kept.toArray(), [8]);
    kept.dispose();
    same(ctx.memory().tensors, before, 'tensors');
    throws(() => inner.relu(), TensorError, 'disposed');
    let chain = ctx.scope(() => {
      let list = { value: ctx.tensor([5], [1]) };
      for (let i = 0; i < 100_000; i++) list = { next: list };
      return list;
    });
    while (chain.next) chain = chain.next;
    close(await chain.value.toArray(), [5]);
    chain.value.dispose();
  },
  'works in a module Worker': async () => {
    const worker = new Worker('/tests/worker.mjs', { type: 'module' });
    const { how, value } = await settles(
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => reject(new Error(event.message));
      }),
      20,
    );
    worker.terminate();
    same(how, 'value', 'the worker');
    ok(!value.failure, value.failure);
    same([...value.product], [7, 10, 15, 22]);
    ok(value.adapters > 0, 'no adapter in the worker');
  },
};
