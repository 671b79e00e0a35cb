// Loads the package in a page of some content security policy, and keeps how each call fails. It is a script of the page, since
// Firefox holds what a driver runs to no policy.

import { Context, init, TensorError } from '/dist/index.js';

const other = Uint8Array.of(0, 0x61, 0x73, 0x6d, 9, 9, 9, 9);
const failures = [];
for (const call of [() => init({ wasm: other }), () => init(), () => Context.create()]) {
  await call().then(
    () => failures.push('none'),
    (error) => failures.push(error instanceof TensorError ? `${error.code} ${error.message}` : `not ours: ${error}`),
  );
}
globalThis.failures = failures;
