// Builds the npm package into dist/: wasm by cargo, glue by wasm-bindgen, both made small: `npm run build`.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setup, tool } from './setup.mjs';
import { ask, main, must, root } from './shell.mjs';

// What rustc emits by default for wasm32: wasm-opt refuses a module that uses what it was not told of.
const FEATURES = ['bulk-memory', 'nontrapping-float-to-int', 'reference-types', 'sign-ext', 'mutable-globals', 'multivalue'];

const WASM = 'tensorweft_bg.wasm';
const TYPES = ['index.d.ts', ...readdirSync(join(root, 'js', 'types')).map((name) => join('types', name))];
const PUBLISHED = [...TYPES, 'index.js', 'tensorweft.js', WASM];

/** The module as linked by cargo. The crate type is given here since cargo drops LTO when a crate asks for two. */
async function link() {
  const target = 'wasm32-unknown-unknown';
  const args = ['rustc', '--locked', '--lib', '--crate-type', 'cdylib', '--profile', 'npm', '--target', target];
  // Panic messages name source files: as seen from the crate, not from this machine.
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), '.cargo');
  const flags = [root, cargoHome].map((path) => `--remap-path-prefix=${path}=`);
  await must('cargo', args, { env: { CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f') }, limit: 1200 });
  const { target_directory } = JSON.parse(ask('cargo', 'metadata', '--format-version', '1', '--no-deps'));
  return join(target_directory, target, 'npm', 'tensorweft.wasm');
}

/** Shrinks the module in place, and proves that it did. */
async function optimise(path) {
  const before = readFileSync(path).length;
  const wasmOpt = join(root, 'node_modules', 'binaryen', 'bin', 'wasm-opt');
  const flags = FEATURES.map((name) => `--enable-${name}`);
  await must(process.execPath, [wasmOpt, path, '-o', `${path}.opt`, '-Oz', '--converge', ...flags], { limit: 600 });
  const after = readFileSync(`${path}.opt`).length;
  if (after >= before) throw new Error(`wasm-opt made nothing smaller: ${before} → ${after} bytes`);
  renameSync(`${path}.opt`, path);
  console.log(`build: wasm-opt ${before.toLocaleString('en')} → ${after.toLocaleString('en')} bytes`);
}

/** Bundles the modules of js/ into one; the glue stays a module of its own, as wasm-bindgen wrote it. */
export async function bundle(stage) {
  const { build: esbuild, transform } = await import('esbuild');
  const small = { minify: true, format: 'esm', target: 'es2022', legalComments: 'none' };
  const glue = join(stage, 'tensorweft.js');
  writeFileSync(glue, (await transform(readFileSync(glue, 'utf8'), small)).code);
  await esbuild({
    ...small,
    entryPoints: [join(root, 'js', 'index.js')],
    outfile: join(stage, 'index.js'),
    bundle: true,
    external: ['./tensorweft.js'],
  });
  for (const name of TYPES) cpSync(join(root, 'js', name), join(stage, name));
}

export async function build() {
  await setup(['modules', 'target', 'bindgen']);
  const { reportSize } = await import('./size.mjs');

  const stage = join(root, '.cache', 'build');
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });

  // The facade names the wasm file, once, for bundlers to find; a second default inside the glue would ship it twice.
  const glue = [
    '--target',
    'web',
    '--out-name',
    'tensorweft',
    '--no-typescript',
    '--omit-default-module-path',
    '--remove-name-section',
    '--remove-producers-section',
  ];
  await must(tool.bindgen(), [await link(), '--out-dir', stage, ...glue], { limit: 120 });
  await optimise(join(stage, WASM));
  await bundle(stage);

  const made = readdirSync(stage, { recursive: true })
    .filter((name) => name !== 'types')
    .sort();
  if (made.join() !== PUBLISHED.toSorted().join()) throw new Error(`dist would hold ${made.join(', ')}; expected ${PUBLISHED.join(', ')}`);
  if (readFileSync(join(stage, 'tensorweft.js'), 'utf8').includes('import.meta'))
    throw new Error('the glue names the wasm file a second time');
  if (!/new URL\("tensorweft_bg\.wasm",\s*import\.meta\.url\)/.test(readFileSync(join(stage, 'index.js'), 'utf8'))) {
    throw new Error("index.js must load new URL('tensorweft_bg.wasm', import.meta.url), literally: bundlers look for it");
  }

  const dist = join(root, 'dist');
  if (existsSync(dist)) rmSync(dist, { recursive: true });
  renameSync(stage, dist);
  reportSize();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main('build', build);
