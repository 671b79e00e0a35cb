// Adds the op `tanh` to a copy of the sources by repeating what is there for its neighbour `sigmoid`. That takes as many
// files as the README says; the tests notice if one is forgotten, and the op passes those that run over all ops.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, it } from 'node:test';
import { root, run } from '../../scripts/shell.mjs';

/** Always the same folder, so that cargo replaces what it built of it before. */
const copy = join(root, 'target', 'new-op');

const rename = (text) => text.replaceAll('SIGMOID', 'TANH').replaceAll('Sigmoid', 'Tanh').replaceAll('sigmoid', 'tanh');

/** An edit: the part of a text that `neighbour` matches, and after it the same for the new op. */
const also =
  (neighbour, change = (text) => text) =>
  (text) => {
    assert.equal(text.match(new RegExp(neighbour, 'gm'))?.length, 1, `${neighbour} is there once`);
    return text.replace(new RegExp(neighbour, 'm'), (found) => found + change(rename(found)));
  };

const documented = (text) => text.replace(/\/\/\/ .*/, '/// `tanh(x)`');

// file → its edits
const edits = {
  'shaders/lib/activation.wgsl': [
    also(/ *case SIGMOID: \{[^}]*\}\n/, (text) => text.replace('logistic(v)', '2.0 * logistic(2.0 * v) - 1.0')),
  ],
  'src/kernel/table.rs': [
    also(/^ *Sigmoid,\n/),
    also(/^ *\("SIGMOID", .*\n/),
    (text) => text.replace(/(const fn act\(.*Constants<)(\d+)>/, (_, head, count) => `${head}${Number(count) + 1}>`),
    also(/^ *\/\/\/ .*\n *SIGMOID: .*\n/, documented),
  ],
  'src/ops/elementwise.rs': [also(/^ *\/\/\/ .*\n *#\[track_caller\]\n *pub fn sigmoid_t\([^}]*\}\n/, (text) => `\n${documented(text)}`)],
  'src/js/ops.rs': [also(/^ *sigmoid sigmoid_t\n/)],
  'js/ops.js': [also(/^ *sigmoid: \[\],\n/)],
  'js/types/tensor.d.ts': [
    also(/^ *\/\*\*\n(?: *\* .*\n)+ *\*\/\n *sigmoid\(\): Tensor;\n/, (text) => `\n${text.replace('1 / (1 + e⁻ˣ)', 'tanh(x)')}`),
  ],
  'tests/table/mod.rs': [also(/^ *sigmoid_t: .*\n/, () => '    tanh_t: unary(Context::tanh_t, f64::tanh);\n')],
  'README.md': [also(/`sigmoid_t`, /), also(/`sigmoid`, /)],
};

const edit = (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  writeFileSync(
    join(copy, file),
    edits[file].reduce((text, change) => change(text), text),
  );
};

/** Compares the places that name the ops, without building anything: the output of the first comparison that fails. */
async function disagreement() {
  const names = ['the wasm exports', 'the facade', 'every method', 'the table of ops', 'what warmup', 'nothing else'];
  const patterns = names.map((name) => `--test-name-pattern=^${name}`);
  for (const compared of ['ops', 'readme', 'contract']) {
    const args = ['--test', ...patterns, join('tests', 'package', `${compared}.test.mjs`)];
    // With NODE_TEST_CONTEXT they would report to this test, not print.
    const { ok, output } = await run(process.execPath, args, { cwd: copy, env: { NODE_TEST_CONTEXT: undefined }, quiet: true });
    if (!ok) return output;
  }
  return undefined;
}

before(() => {
  rmSync(copy, { recursive: true, force: true });
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of files.split('\0').filter((file) => file && existsSync(join(root, file)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { preserveTimestamps: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  // Another version, so that cargo shares the builds of the dependencies but not those of the crate.
  for (const file of ['Cargo.toml', 'Cargo.lock']) {
    const text = readFileSync(join(root, file), 'utf8');
    const another = text.replace(/^(?<head>name = "tensorweft"\nversion = ")[^"]+/m, '$<head>0.0.0-copy');
    assert.notEqual(another, text, file);
    writeFileSync(join(copy, file), another);
  }
  Object.keys(edits).forEach(edit);
});

it('an op of one tensor takes as many files as the README says', () => {
  const [, count] =
    readFileSync(join(root, 'README.md'), 'utf8').match(/An op of one or two tensors is an edit of (\w+) files/) ??
    assert.fail('no number');
  const numbers = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
  assert.equal(Object.keys(edits).length, numbers.indexOf(count));
});

it('the places that name it agree, and not if one of them is forgotten', { timeout: 300_000 }, async () => {
  assert.equal(await disagreement(), undefined);
  // The other two are noticed by the Rust tests, as below.
  for (const file of Object.keys(edits).filter((file) => !['shaders/lib/activation.wgsl', 'tests/table/mod.rs'].includes(file))) {
    writeFileSync(join(copy, file), readFileSync(join(root, file)));
    assert.ok(await disagreement(), `nothing notices that ${file} lacks it`);
    edit(file);
  }
});

it('it is right, and its kernel and its tests are found', { timeout: 900_000 }, async () => {
  const tests = ['table::tanh_t', 'layers::', 'kernels::', 'unary_ops', 'nan_stays', 'no_op_minds', 'errors_are_handed', 'every_op'];
  const args = ['test', '--locked', '--test', 'integration', '--', ...tests];
  const { ok, output } = await run('cargo', args, {
    cwd: copy,
    env: { CARGO_TARGET_DIR: process.env.CARGO_TARGET_DIR ?? join(root, 'target') },
    limit: 900,
    quiet: true,
  });
  assert.ok(ok, output);
  assert.match(output, /^test table::tanh_t \.\.\. ok$/m);
});
