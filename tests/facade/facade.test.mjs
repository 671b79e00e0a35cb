// Runs every case of the facade in real Chromium and Firefox, one test a case: `npm run test:facade`.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browsers } from '../../scripts/browsers.mjs';
import { serve } from '../../scripts/serve.mjs';
import { root } from '../../scripts/shell.mjs';
import { cases } from './cases.mjs';

const CASE_SECONDS = 180;
const dist = join(root, 'dist');
const fresh = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`/fresh${i}/`, dist]));

for (const start of Object.values(browsers)) {
  describe(`the facade in ${start.name}`, { concurrency: false }, () => {
    let server;
    let browser;
    let page;
    before(
      async () => {
        server = await serve({
          '/tests/': join(root, 'tests', 'facade'),
          '/dist/': dist,
          '/copy/': dist,
          '/octet/': { folder: dist, types: { '.wasm': 'application/octet-stream' } },
          ...fresh,
        });
        browser = await start();
        page = await browser.open(`${server.url}tests/index.html`);
        await page.evaluate(async () => {
          while (!globalThis.runCase) await new Promise((next) => setTimeout(next, 50));
        });
      },
      { timeout: 120_000 },
    );
    after(
      async () => {
        await browser?.close();
        await server?.close();
      },
      { timeout: 60_000 },
    );

    for (const name of cases.keys()) {
      it(name, { timeout: (CASE_SECONDS + 30) * 1000 }, async () => {
        const { failure } = await page.evaluate((which) => globalThis.runCase(which), name, CASE_SECONDS);
        if (failure) assert.fail(failure);
      });
    }
    it('left no error, no warning and no shader message behind', async () => {
      const { uncaptured, shaderMessages } = await page.evaluate(() => globalThis.closing());
      assert.deepEqual(uncaptured, [], 'uncaptured WebGPU errors');
      assert.deepEqual(shaderMessages, [], 'shader messages');
      // Cases ask for a file that is missing and for wasm of another type; the browser or the glue says so.
      assert.deepEqual(
        page.problems.filter((text) => !/\/nowhere\/|MIME type/.test(text)),
        [],
      );
    });
  });
}
