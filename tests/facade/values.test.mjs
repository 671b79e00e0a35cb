// How error messages show a value: enough of it to find the mistake, in one line, whatever it is.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { show } from '../../js/values.js';

class Tensor {
  shape = [2, 3];
}

const shown = [
  [undefined, 'undefined'],
  [null, 'null'],
  [true, 'true'],
  [-1.5, '-1.5'],
  [NaN, 'NaN'],
  [10n, '10n'],
  [Symbol('s'), 'Symbol(s)'],
  ['x', '"x"'],
  ['a'.repeat(100), `"${'a'.repeat(40)}…"`],
  [[], '[]'],
  [[1, '2', null], '[1, "2", null]'],
  [[1, [2], { a: 1 }], '[1, an Array, an Object]'],
  [[1, 2, 3, 4, 5, 6], '[1, 2, 3, 4, … 6 in all]'],
  [new Array(2 ** 32 - 1), '[undefined, undefined, undefined, undefined, … 4294967295 in all]'],
  [Float64Array.of(1, 2), 'Float64Array [1, 2]'],
  [new Uint8Array(1000), 'Uint8Array [0, 0, 0, 0, … 1000 in all]'],
  [new ArrayBuffer(8), 'an ArrayBuffer'],
  [{}, '{}'],
  [{ rows: 2, columns: 'x' }, '{ rows: 2, columns: "x" }'],
  [{ a: 1, b: 2, c: 3, d: 4, e: 5 }, '{ a: 1, b: 2, c: 3, d: 4, … 5 in all }'],
  [Object.create(null), '{}'],
  [new Map(), 'a Map'],
  [new Tensor(), 'a Tensor of shape [2, 3]'],
  [new Date(0), 'a Date'],
  [Promise.resolve(), 'a Promise (is an await missing?)'],
  [Math.max, 'the function max'],
  [() => {}, 'a function'],
  [class Foo {}, 'the function Foo'],
];
for (const [value, text] of shown) it(`shows ${text}`, () => assert.equal(show(value), text));

it('shows what refuses to be looked at', () => {
  const refuse = () => {
    throw new Error('no');
  };
  const refusing = new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse });
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const thrown = {
    get a() {
      return refuse();
    },
  };
  const nameless = Object.create({ constructor: { name: 7 } });
  for (const value of [refusing, proxy, thrown, nameless]) assert.equal(show(value), 'an object');
  assert.equal(show(Object.defineProperty(() => {}, 'name', { value: 1 })), 'a function');
});
