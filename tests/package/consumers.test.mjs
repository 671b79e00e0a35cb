// Installs the tarball where users would, a Vite project and a plain page, and computes with it in real Chromium.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browsers } from '../../scripts/browsers.mjs';
import { serve, serveVite } from '../../scripts/serve.mjs';
import { root, run } from '../../scripts/shell.mjs';
import { emptyFolder, npm, pack } from './pack.mjs';

const html = (script) =>
  '<!doctype html><meta charset="utf-8"><title>Consumer</title><link rel="icon" href="data:,">' +
  `<script type="module" src="${script}"></script>`;

const main = (specifier) => `
import { Context } from '${specifier}';
try {
  const ctx = await Context.create();
  const a = ctx.tensor([1, 2, 3, 4, 5, 6], [2, 3]);
  const b = ctx.tensor([1, 0, 0, 1, 1, 1], [3, 2]);
  const q = ctx.tensor([0, 0, 4, 0], [2, 2]);
  const v = ctx.tensor([1, 3], [2, 1]);
  const product = a.mm(b).toArray();
  const attended = q.attention(ctx.tensor([1, 0, 0, 1], [2, 2]), v, 1).toArray();
  globalThis.outcome = { product: [...await product], attended: [...await attended] };
} catch (error) {
  globalThis.outcome = { failure: error.code + ': ' + error.message };
}`;

/** Opens the page and holds its numbers to the arithmetic: softmax([0, 0]) and softmax([4, 0]) over v = [1, 3]. */
async function computes(browser, url) {
  const page = await browser.open(url);
  try {
    const outcome = await page
      .evaluate(async () => {
        while (!globalThis.outcome) await new Promise((next) => setTimeout(next, 50));
        return globalThis.outcome;
      })
      .catch((error) => assert.fail(`${error.message}\n${page.problems.join('\n')}`));
    assert.equal(outcome.failure, undefined);
    assert.deepEqual(outcome.product, [4, 5, 10, 11]);
    const weight = Math.exp(4) / (Math.exp(4) + 1);
    [2, weight + 3 * (1 - weight)].forEach((want, i) =>
      assert.ok(Math.abs(outcome.attended[i] - want) < 3e-5, `attention: ${outcome.attended[i]}, want ${want}`),
    );
    assert.deepEqual(page.problems, []);
  } finally {
    await page.close();
  }
}

describe('consumers', { concurrency: false }, () => {
  const folder = emptyFolder();
  let browser;
  before(
    async () => {
      browser = await browsers.chromium();
    },
    { timeout: 90_000 },
  );
  after(() => browser?.close());

  describe('a Vite project', { concurrency: false }, () => {
    const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
    before(
      () => {
        const { devDependencies } = JSON.parse(readFileSync(join(root, 'www', 'package.json'), 'utf8'));
        writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
        npm(['install', '--prefer-offline', `vite@${devDependencies.vite}`, pack().tarball], folder);
        mkdirSync(join(folder, 'src'));
        writeFileSync(join(folder, 'index.html'), html('/src/main.js'));
        writeFileSync(join(folder, 'src', 'main.js'), main('tensorweft'));
      },
      { timeout: 300_000 },
    );

    it('works on the dev server', { timeout: 180_000 }, async () => {
      const server = await serveVite(folder);
      try {
        await computes(browser, server.url);
      } finally {
        await server.close();
      }
    });

    it('works as a production build, with one wasm file', { timeout: 240_000 }, async () => {
      const { ok, output } = await run(process.execPath, [vite, 'build'], { cwd: folder, limit: 120, quiet: true });
      assert.ok(ok, output);
      const wasm = readdirSync(join(folder, 'dist'), { recursive: true }).filter((path) => path.endsWith('.wasm'));
      assert.equal(wasm.length, 1, `wasm files: ${wasm}`);
      const server = await serveVite(folder, 'preview');
      try {
        await computes(browser, server.url);
      } finally {
        await server.close();
      }
    });
  });

  it('a plain page with a module script', { timeout: 120_000 }, async () => {
    const site = emptyFolder();
    const installed = join(folder, 'node_modules', 'tensorweft', 'dist');
    assert.ok(existsSync(installed));
    writeFileSync(join(site, 'index.html'), html('main.js'));
    writeFileSync(join(site, 'main.js'), main('./tensorweft/index.js'));
    const server = await serve({ '/': site, '/tensorweft/': installed });
    try {
      await computes(browser, server.url);
    } finally {
      await server.close();
    }
  });
});
