// Under a content security policy that forbids wasm, the error names the words that would allow it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { browsers } from '../../scripts/browsers.mjs';
import { serve } from '../../scripts/serve.mjs';
import { root } from '../../scripts/shell.mjs';

for (const start of Object.values(browsers)) {
  it(`names 'wasm-unsafe-eval' in ${start.name}, and nothing of it where the file is the fault`, { timeout: 120_000 }, async () => {
    const dist = join(root, 'dist');
    const pages = join(root, 'tests', 'facade');
    const strict = { folder: pages, policy: "default-src 'self'; script-src 'self'" };
    const server = await serve({ '/': pages, '/strict/': strict, '/dist/': dist });
    const browser = await start();
    try {
      const failures = async (path) => {
        const page = await browser.open(`${server.url}${path}`);
        return page.evaluate(async () => {
          while (!globalThis.failures) await new Promise((next) => setTimeout(next, 50));
          return globalThis.failures;
        });
      };
      const forbidden = await failures('strict/policy.html');
      for (const failure of forbidden) assert.match(failure, /^wasm-load init: .*'wasm-unsafe-eval'.*script-src/);
      const [garbage, ...right] = await failures('policy.html');
      assert.match(garbage, /^wasm-load init: the wasm could not be started/);
      assert.doesNotMatch(garbage, /policy|unsafe-eval/i);
      assert.deepEqual(right, ['none', 'none']);
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
