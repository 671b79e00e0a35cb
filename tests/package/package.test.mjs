// The tarball: which files it holds, what package linters say, and that it disappears from a bundle that does not use it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { build } from 'esbuild';
import { publint } from 'publint';
import { root } from '../../scripts/shell.mjs';
import { emptyFolder, pack } from './pack.mjs';

const { tarball, files } = pack();

/** The packed package, unpacked as node_modules/tensorweft of an empty project. */
function project() {
  const folder = emptyFolder();
  const home = join(folder, 'node_modules', 'tensorweft');
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['xzf', tarball, '-C', home, '--strip-components=1']);
  return { folder, home };
}

it('holds these files and no others', () => {
  assert.deepEqual(files, [
    'CHANGELOG.md',
    'LICENSE-APACHE',
    'LICENSE-MIT',
    'README.md',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/tensorweft.js',
    'dist/tensorweft_bg.wasm',
    ...['context', 'errors', 'init', 'kv-cache', 'tensor'].map((name) => `dist/types/${name}.d.ts`),
    'package.json',
  ]);
});

it('names no path of the machine it was built on', () => {
  const { home } = project();
  for (const file of files) {
    const text = readFileSync(join(home, file), 'latin1');
    for (const path of [root, homedir()]) assert.ok(!text.includes(path), `${file} names ${path}`);
  }
});

it('satisfies publint', async () => {
  const bytes = readFileSync(tarball);
  const { messages } = await publint({
    strict: true,
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
  });
  assert.deepEqual(messages, []);
});

it('satisfies arethetypeswrong as an ESM-only package', () => {
  const attw = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js');
  const args = [
    attw,
    tarball,
    '--profile',
    'esm-only',
    '--no-emoji',
    '--no-color',
    '--exclude-entrypoints',
    './tensorweft_bg.wasm',
    './package.json',
  ];
  execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 }); // throws, with the report, when a check fails
});

it('leaves a bundle that imports it and uses nothing', async () => {
  const { folder } = project();
  const bundle = async (source) => {
    writeFileSync(join(folder, 'main.js'), source);
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: ['main.js'],
      bundle: true,
      format: 'esm',
      minify: true,
      write: false,
      logLevel: 'silent',
    });
    return outputFiles[0].text.trim();
  };
  assert.equal(await bundle("import 'tensorweft'; import { Context } from 'tensorweft';"), '');
  const used = await bundle("import { init } from 'tensorweft'; init();");
  assert.match(used, /import\.meta\.url/, 'a bundle that uses only init() lost the loading of the wasm');
  assert.match(used, /WebAssembly\.instantiate/, 'a bundle that uses only init() lost the glue');
});

it('gives its wasm file by name', () => {
  const { folder } = project();
  const path = execFileSync(
    process.execPath,
    ['--input-type=module', '-e', "process.stdout.write(import.meta.resolve('tensorweft/tensorweft_bg.wasm'))"],
    { cwd: folder, encoding: 'utf8' },
  );
  const bytes = readFileSync(new URL(path));
  assert.ok(WebAssembly.validate(bytes));
});
