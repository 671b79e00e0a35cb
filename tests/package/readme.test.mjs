// Holds README.md to the code: its tables to the Rust source and the published types, its example to what Chromium prints.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { browsers } from '../../scripts/browsers.mjs';
import { serve } from '../../scripts/serve.mjs';
import { root } from '../../scripts/shell.mjs';
import { INDEX, strings } from './declarations.mjs';
import { emptyFolder } from './pack.mjs';
import { camel, jsMethods, ops, read, rustMethods, sorted } from './sources.mjs';

const readme = read('README.md');
const codes = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

/** The cells of each row of the table under a heading. */
function table(heading) {
  const [, section] = readme.split(`\n## ${heading}\n`);
  const rows = section
    .split('\n## ')[0]
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return rows.slice(2);
}

/** `name(a, b, …)` as its name, and its arguments where there are any. */
function call(text) {
  const [, name, args] = text.match(/^(?:\w+\.)?(\w+)(?:\((.*)\))?$/) ?? assert.fail(`not a call: ${text}`);
  return { name, args: args === undefined ? undefined : args.split(', ').filter(Boolean) };
}

const hostOps = rustMethods('src/host.rs');
const own = rustMethods('src/context.rs');
const tensor = jsMethods('Tensor');
const context = jsMethods('Context');

const rows = table('Ops');
const calls = (rows, column) => rows.flatMap((row) => codes(row[column])).map(call);
const host = rows.filter(([, js]) => js === 'the same in camelCase');
const device = rows.filter((row) => !host.includes(row));

it('the table of ops lists every device op of the crate, and no other', () => {
  const listed = calls(device, 0).map(({ name }) => name);
  assert.deepEqual(sorted(listed), sorted([...ops.keys(), 'tensor', 'tensor_f16', 'tensor_f16_bits', 'to_dtype', 'empty', 'to_vec']));
});

it('the table of ops lists every method of Tensor, and no other', () => {
  const listed = device
    .flatMap((row) => codes(row[1]))
    .filter((text) => !text.startsWith('ctx.'))
    .map((text) => call(text).name);
  assert.deepEqual(sorted(listed), sorted([...tensor.keys()].filter((name) => name !== 'dispose')));
  for (const text of device.flatMap((row) => codes(row[1])).filter((text) => text.startsWith('ctx.')))
    assert.ok(context.has(call(text).name), text);
});

it('the table of ops gives the arguments in their order', () => {
  const wrong = [];
  for (const { name, args } of calls(device, 0)) {
    const actual = ops.get(name) ?? own.get(name);
    if (args === undefined) continue;
    const rest = args[0] === '…' ? args.slice(1) : args;
    const compared = args[0] === '…' ? actual.slice(-rest.length) : actual;
    if (rest.join() !== compared.join()) wrong.push(`${name}(${args.join(', ')}) is ${name}(${actual.join(', ')})`);
  }
  for (const text of device.flatMap((row) => codes(row[1]))) {
    const { name, args } = call(text);
    const actual = (text.startsWith('ctx.') ? context : tensor).get(name);
    if (args === undefined) continue;
    const given = args.map((arg) => arg.replace(/ = .*$/, '?'));
    if (given.join() !== actual.join()) wrong.push(`${text} takes (${actual.join(', ')})`);
  }
  assert.deepEqual(wrong, []);
});

it('the table of ops lists every host-array op, in Rust and in JavaScript', () => {
  const listed = calls(host, 0).map(({ name }) => name);
  assert.deepEqual(sorted(listed), sorted(hostOps.keys()));
  for (const name of listed) assert.ok(context.has(camel(name)), name);
});

it('what warmup can be asked for, by its type, is every op of Tensor, empty and kvCache', () => {
  const ops = sorted([...tensor.keys(), 'empty', 'kvCache'].filter((name) => !['toArray', 'dispose'].includes(name)));
  assert.deepEqual(sorted(strings(INDEX, 'OpName')), ops);
  // Each row of the kernel table ends with the ops that may run it; `dup` runs none.
  const rows = read('src/kernel/table.rs').matchAll(/^ {4}[A-Z0-9_]+: \w+, \d[^;]*;([\w ]+);/gm);
  const names = [...rows].flatMap(([, ops]) => ops.trim().split(' ')).concat('dup');
  const others = { scale_t: 'mulScalar', add_bias_act_t: 'addBias', to_dtype: 'to' };
  assert.deepEqual(sorted(names.map((name) => others[name] ?? camel(name.replace(/_t$/, '')))), ops);
});

it('the table of errors lists every code, and marks those of JavaScript alone', () => {
  const listed = table('Errors').map(([code, when]) => ({ code: codes(code)[0], js: when.endsWith('(JavaScript)') }));
  assert.deepEqual(sorted(listed.map(({ code }) => code)), sorted(strings(INDEX, 'ErrorCode')));
  const [, body] = read('src/error.rs').split('pub fn code(');
  const rust = [...body.split('\n    }\n')[0].matchAll(/=> "([^"]+)"/g)].map(([, code]) => code);
  assert.deepEqual(sorted(listed.filter(({ js }) => !js).map(({ code }) => code)), sorted(rust));
});

it('every npm script and every file that it names is there', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const [, developing] = readme.split('\n## Developing\n');
  const named = [...readme.matchAll(/npm run ([\w:]+)/g), ...developing.matchAll(/`(test:\w+|check|build|size|setup)`/g)].map(
    ([, name]) => name,
  );
  assert.deepEqual(
    sorted(named).filter((name) => !scripts[name]),
    [],
  );
  const unnamed = Object.keys(scripts).filter((name) => !named.includes(name) && !['start', 'test', 'prepack'].includes(name));
  assert.deepEqual(unnamed, []);
  const files = [...readme.matchAll(/\]\((?!http|#)([^)]+)\)/g), ...readme.matchAll(/node (scripts\/\S+\.mjs)/g)].map(([, path]) => path);
  assert.deepEqual(
    files.filter((path) => !existsSync(join(root, path))),
    [],
  );
  const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, text]) => `#${text.toLowerCase().replaceAll(' ', '-')}`);
  for (const [, anchor] of readme.matchAll(/\]\((#[^)]+)\)/g)) assert.ok(headings.includes(anchor), anchor);
});

it('its example prints what it says', { timeout: 180_000 }, async () => {
  const [, example] = readme.match(/```js\n(.*?)```/s);
  const site = emptyFolder();
  const head = '<!doctype html><meta charset="utf-8"><title>README</title><link rel="icon" href="data:,">';
  writeFileSync(join(site, 'index.html'), `${head}<script type="module" src="main.js"></script>`);
  writeFileSync(join(site, 'main.js'), example.replace("'tensorweft'", "'./tensorweft/index.js'"));
  const server = await serve({ '/': site, '/tensorweft/': join(root, 'dist') });
  const browser = await browsers.chromium();
  try {
    const page = await browser.open(server.url, {
      first: () => {
        console.log = (...printed) => {
          globalThis.printed = printed;
        };
      },
    });
    const [shape, kind, values] = await page
      .evaluate(async () => {
        while (!globalThis.printed) await new Promise((next) => setTimeout(next, 50));
        const [shape, values] = globalThis.printed;
        return [shape, values.constructor.name, [...values]];
      })
      .catch((error) => assert.fail(`${error.message}\n${page.problems.join('\n')}`));
    assert.deepEqual([shape, kind], [[2, 2], 'Float32Array']);
    // a · b is [[4, 5], [10, 11]]: both rows are softmax([0, 1]).
    const low = 1 / (1 + Math.E);
    [low, 1 - low, low, 1 - low].forEach((want, i) => assert.ok(Math.abs(values[i] - want) < 1e-6, `${values[i]}, want ${want}`));
    assert.deepEqual(page.problems, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
