// Holds js/tensorweft.d.ts, which the facade is checked against, to the module that wasm-bindgen made.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as module from '../../dist/tensorweft.js';
import { INDEX, load, strings } from './declarations.mjs';

const glue = { ...module };
const { symbols } = load(fileURLToPath(new URL('../../js/tensorweft.d.ts', import.meta.url)));
const functions = symbols.filter((symbol) => symbol.valueDeclaration);
const ops = strings(INDEX, 'OpName').filter((name) => name in glue && !functions.some((symbol) => symbol.name === name));

it('every export of the module has a type, or is an op', () => {
  assert.deepEqual(
    [...functions.map(({ name }) => name), ...ops].sort(),
    Object.keys(glue)
      .filter((name) => name !== 'initSync')
      .sort(),
  );
});

it('every function takes as many arguments as its type says', () => {
  for (const { name, valueDeclaration } of functions) assert.equal(valueDeclaration.parameters.length, glue[name].length, name);
});
