// Embeds the five reference sentences with the demo page's MiniLM in real browsers: `node --test tests/models/minilm.browser.mjs`.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';
import { browsers } from '../../scripts/browsers.mjs';
import { serve } from '../../scripts/serve.mjs';
import { root } from '../../scripts/shell.mjs';

const { sentences } = JSON.parse(readFileSync(new URL('minilm.json', import.meta.url), 'utf8'));
const weights = join(root, '.cache', 'models', 'minilm');
const bundle = join(root, '.cache', 'test-models');

for (const start of Object.values(browsers)) {
  describe(`MiniLM in ${start.name}`, { concurrency: false }, () => {
    let server;
    let browser;
    let page;
    before(async () => {
      assert.ok(existsSync(weights), 'no weights: run `node scripts/fetch-models.mjs` first');
      await build({ entryPoints: [join(root, 'www', 'src', 'minilm.js')], outdir: bundle, bundle: true, format: 'esm', logLevel: 'warning' });
      server = await serve({ '/': join(root, 'tests', 'models'), '/dist/': join(root, 'dist'), '/bundle/': bundle, '/weights/': weights });
      browser = await start();
      page = await browser.open(server.url);
    }, { timeout: 120_000 });
    after(async () => {
      await browser?.close();
      await server?.close();
    }, { timeout: 60_000 });

    it('loads with progress, embeds five sentences and leaves nothing behind', { timeout: 330_000 }, async () => {
      const { results, progress, tensorsAfter } = await page.evaluate(async (texts) => {
        const { Context } = await import('/dist/index.js');
        const { loadMiniLM } = await import('/bundle/minilm.js');
        const ctx = await Context.create();
        const progress = [];
        const model = await loadMiniLM(ctx, { base: '/weights', onProgress: (loaded, total) => progress.push([loaded, total]) });
        const results = [];
        for (const text of texts) results.push({ ids: model.tokenize(text), embedding: [...await model.embed(text)] });
        model.dispose();
        const { tensors: tensorsAfter } = ctx.memory();
        ctx.destroy();
        return { results, progress, tensorsAfter };
      }, sentences.map(({ text }) => text), 300);

      sentences.forEach(({ text, token_ids: ids, embedding }, i) => {
        assert.deepEqual(results[i].ids, ids, `token ids of ${text}`);
        assert.equal(results[i].embedding.length, embedding.length);
        embedding.forEach((want, at) => {
          const got = results[i].embedding[at];
          assert.ok(Math.abs(got - want) <= 1e-5, `component ${at} of ${text}: ${got}, expected ${want}`);
        });
      });
      const size = statSync(join(weights, 'model.safetensors')).size;
      assert.deepEqual(progress.at(-1), [size, size]);
      assert.ok(progress.length > 10 && progress.every(([loaded], i) => i === 0 || loaded > progress[i - 1][0]), 'progress grows');
      assert.equal(tensorsAfter, 0);
    });

    it('stops a download that is aborted and frees what had arrived', { timeout: 90_000 }, async () => {
      const { name, tensors } = await page.evaluate(async () => {
        const { Context } = await import('/dist/index.js');
        const { loadMiniLM } = await import('/bundle/minilm.js');
        const ctx = await Context.create();
        const controller = new AbortController();
        const loading = loadMiniLM(ctx, {
          base: '/weights',
          signal: controller.signal,
          // The word embeddings, half of the file, have arrived.
          onProgress: (loaded, total) => loaded > 0.7 * total && controller.abort(),
        });
        const { name } = await loading.catch((error) => error);
        const { tensors } = ctx.memory();
        ctx.destroy();
        return { name, tensors };
      }, undefined, 60);
      assert.equal(name, 'AbortError');
      assert.equal(tensors, 0);
    });

    it('left no error and no warning in the console', () => assert.deepEqual(page.problems, []));
  });
}
