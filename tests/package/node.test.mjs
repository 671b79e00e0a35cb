// In Node and on servers the package can be imported, touches nothing, and says plainly that there is no WebGPU.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { root } from '../../scripts/shell.mjs';

/** Runs a module in a fresh Node that fails loudly when the browser's globals are touched. */
function node(source, { forbidden = true } = {}) {
  const trap = `
    for (const name of ['navigator', 'fetch', 'window', 'document', 'self']) {
      Object.defineProperty(globalThis, name, { configurable: true, get() { throw new Error('touched ' + name); } });
    }`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `${forbidden ? trap : ''}\n${source}`], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout;
}

it('importing is silent and touches nothing', () => {
  assert.equal(node("await import('tensorweft');"), '');
  assert.equal(node("console.log(Object.keys(await import('tensorweft')).sort().join())"), 'Context,KvCache,Tensor,TensorError,init\n');
});

it('importing leaves no new global', () => {
  assert.equal(
    node(
      `const before = Reflect.ownKeys(globalThis).length;
      await import('tensorweft');
      console.log(Reflect.ownKeys(globalThis).length - before)`,
      { forbidden: false },
    ),
    '0\n',
  );
});

it('enumerate() is empty and create() rejects with no-webgpu', () => {
  const source = `
    import { Context, TensorError } from 'tensorweft';
    console.log(JSON.stringify(await Context.enumerate()));
    for (const make of [() => Context.create(), () => Context.forAdapter(0)]) {
      await make().then(
        () => console.log('made one'),
        (error) => console.log(error instanceof TensorError, error.name, error.code, error.message.length > 10),
      );
    }`;
  assert.equal(node(source, { forbidden: false }), '[]\ntrue TensorError no-webgpu true\ntrue TensorError no-webgpu true\n');
  const withoutNavigator = `Object.defineProperty(globalThis, 'navigator', { value: undefined });${source}`.replace(
    /import \{ (.*) \} from 'tensorweft';/,
    "const { $1 } = await import('tensorweft');",
  );
  assert.equal(node(withoutNavigator, { forbidden: false }), '[]\ntrue TensorError no-webgpu true\ntrue TensorError no-webgpu true\n');
});

it('init() takes bytes in Node', () => {
  const source = `
    import { readFileSync } from 'node:fs';
    import { init, Context } from 'tensorweft';
    await init({ wasm: readFileSync(new URL(import.meta.resolve('tensorweft/tensorweft_bg.wasm'))) });
    await init();
    console.log(JSON.stringify(await Context.enumerate()));`;
  assert.equal(node(source, { forbidden: false }), '[]\n');
});
