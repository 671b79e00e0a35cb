// Holds the exports of the wasm to the ops of the crate and to the published types. That js/ops.js has a row for each type is
// checked by the compiler, with js/tsconfig.json.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { camel, jsMethods, ops, read, sorted } from './sources.mjs';

/** The exports of src/js/ops.rs, as name in JavaScript → ops of the crate that it calls. */
function wasmExports() {
  const source = read('src/js/ops.rs');
  const exports = new Map();
  for (const [, rows] of source.matchAll(/^(?:unary|binary)! \{\n([^}]*)\}/gm)) {
    for (const [, name, op] of rows.matchAll(/^ {4}(\w+) (\w+)$/gm)) exports.set(name, [op]);
  }
  for (const [, renamed, name, body] of source.matchAll(/^#\[wasm_bindgen(?:\(js_name = (\w+)\))?\]\npub fn (\w+)\((.*?)^\}/gms)) {
    exports.set(
      renamed ?? name,
      [...body.matchAll(/\b(?:ctx|context)\.(\w+)\(/g)].map(([, op]) => op),
    );
  }
  return exports;
}

it('the wasm exports every op of the crate, by its name in camel case, and each is published', () => {
  const exported = wasmExports();
  // A cache and the warm-up have exports of their own; `to_dtype` is a function of the context.
  const crate = [...ops.keys()].filter((name) => !['kv_cache', 'kv_cache_as', 'warmup'].includes(name));
  assert.deepEqual(sorted([...exported.values()].flat()), sorted([...crate, 'to_dtype']));
  const misnamed = [...exported].filter(([name, [op]]) => name !== camel(op.replace(/_t$/, '')) && name !== 'to');
  assert.deepEqual(misnamed, []);
  // `mulScalar` takes a tensor or a number: it is two exports.
  const published = [...jsMethods('Tensor').keys()].filter((name) => !['toArray', 'dispose'].includes(name));
  assert.deepEqual(sorted([...published, 'scale']), sorted(exported.keys()));
});
