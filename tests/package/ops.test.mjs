// Holds the ops in JavaScript to those of the crate: the exports of the wasm, the facade's table, and its types.

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
  for (const [, renamed, name, body] of source.matchAll(/^#\[wasm_bindgen(?:\(js_name = (\w+)\))?\]\npub fn (\w+)\(([\s\S]*?)^\}/gm)) {
    exports.set(
      renamed ?? name,
      [...body.matchAll(/\b(?:ctx|context)\.(\w+)\(/g)].map(([, op]) => op),
    );
  }
  return exports;
}

const exported = wasmExports();
const [, facade] = read('js/ops.js').match(/^export const table = \(tensor\) => \(\{\n([\s\S]*?)^\}\);/m);
const methods = [...facade.matchAll(/^ {2}(\w+): \[/gm)].map(([, name]) => name);

it('the wasm exports every op of the crate, by its name in camel case', () => {
  // A cache and the warm-up have exports of their own; `to_dtype` is a function of the context.
  const crate = [...ops.keys()].filter((name) => !['kv_cache', 'kv_cache_as', 'warmup'].includes(name));
  assert.deepEqual(sorted([...exported.values()].flat()), sorted([...crate, 'to_dtype']));
  const misnamed = [...exported].filter(([name, [op]]) => name !== camel(op.replace(/_t$/, '')) && name !== 'to');
  assert.deepEqual(misnamed, []);
});

it('the facade has a method for every export', () => {
  // `mulScalar` takes a tensor or a number, and is written out.
  const written = ['mulScalar', 'scale'];
  assert.deepEqual(sorted(methods), sorted([...exported.keys()].filter((name) => !written.includes(name))));
});

it('every method of the facade has a type', () => {
  const typed = [...jsMethods('Tensor').keys()].filter((name) => !['toArray', 'dispose', 'mulScalar'].includes(name));
  assert.deepEqual(sorted(typed), sorted(methods));
});
