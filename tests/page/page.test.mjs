// Drives the demo page as built for production, in Chromium and Firefox: every panel, its failures, its layout: `npm run test:page`.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browsers } from '../../scripts/browsers.mjs';
import { serve, serveVite } from '../../scripts/serve.mjs';
import { must, root } from '../../scripts/shell.mjs';

const site = join(root, '.cache', 'page');
const screenshots = join(root, '.cache', 'screenshots');
const none = join(root, '.cache', 'none'); // where the model's files would be: this page is one without them
let server;

before(
  async () => {
    mkdirSync(screenshots, { recursive: true });
    mkdirSync(none, { recursive: true });
    rmSync(site, { recursive: true, force: true });
    const vite = join(root, 'www', 'node_modules', 'vite', 'bin', 'vite.js');
    await must(process.execPath, [vite, 'build', '--outDir', site, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: join(root, 'www'),
      limit: 180,
    });
    server = await serve({ '/': site, '/models/': none });
  },
  { timeout: 200_000 },
);
after(() => server?.close());

/** What stands in the page at a data-testid: its text, its full number, whether it is marked as good. */
async function read(page, id) {
  const { text, value, ok } = await page.evaluate((testid) => {
    const el = document.querySelector(`[data-testid='${testid}']`);
    return { text: el.textContent, value: el.dataset.value ?? null, ok: el.dataset.ok ?? null };
  }, id);
  return { text, value: value === null ? NaN : Number(value), ok };
}

/** Clicks, then waits for the status line to leave `busy`; resolves to that line. */
function click(page, selector, seconds = 120) {
  return page.evaluate(
    async (target) => {
      document.querySelector(target).click();
      const status = document.querySelector("[data-testid='status']");
      do await new Promise((next) => setTimeout(next, 50));
      while (['busy', 'starting'].includes(status.dataset.state));
      return { state: status.dataset.state, text: status.textContent };
    },
    selector,
    seconds,
  );
}

const at = (id) => `[data-testid='${id}']`;

async function ready(page) {
  await page
    .evaluate(async () => {
      const settled = () =>
        !['busy', 'starting'].includes(document.querySelector("[data-testid='status']").dataset.state) &&
        document.querySelector("[data-testid='weave-caption']").dataset.value;
      while (!settled()) await new Promise((next) => setTimeout(next, 50));
    })
    .catch(async (error) => assert.fail(`${error.message}: ${(await read(page, 'status')).text}\n${page.problems.join('\n')}`));
}

async function holdsNothing(page) {
  await page.evaluate(() => new Promise((next) => setTimeout(next, 1200))); // the dock is refreshed once a second
  assert.equal((await read(page, 'memory-tensors')).value, 0, 'tensors left behind');
}

for (const start of Object.values(browsers)) {
  describe(`the demo page in ${start.name}`, { concurrency: false }, () => {
    let browser;
    let page;
    before(
      async () => {
        browser = await start();
        page = await browser.open(server.url);
        await ready(page);
      },
      { timeout: 150_000 },
    );
    after(() => browser?.close(), { timeout: 60_000 });

    it('names the adapter', async () => {
      const [name, backend, kind] = [
        await read(page, 'adapter-name'),
        await read(page, 'adapter-backend'),
        await read(page, 'adapter-software'),
      ];
      assert.ok(name.text.length > 2 && backend.text.length > 2, `${name.text}, ${backend.text}`);
      assert.match(kind.text, /^(Software|Hardware)$/);
    });

    it('weaves cloth whose raised threads can be counted', { timeout: 120_000 }, async () => {
      for (let i = 0; i < 3; i++) await click(page, at('weave-run'));
      const { text, value } = await read(page, 'weave-caption');
      assert.match(text, /2\/2 twill/);
      assert.equal(value, (49 * 72) / 2); // a 2/2 twill raises every second end in every pick
      await holdsNothing(page);
    });

    it('multiplies within the rounding bound', { timeout: 200_000 }, async () => {
      for (const size of [256, 512]) {
        await page.evaluate((id) => document.querySelector(id).click(), at(`matmul-sizes-${size}`));
        const { state, text } = await click(page, at('matmul-run'));
        assert.equal(state, 'ready', text);
        const [error, bound, gpu, js, verdict] = await Promise.all(
          ['matmul-error', 'matmul-bound', 'matmul-gflops', 'matmul-gflops-js', 'matmul-verdict'].map((id) => read(page, id)),
        );
        assert.ok(error.value > 0 && error.value <= bound.value, `error ${error.value}, bound ${bound.value}`);
        assert.ok(gpu.value > 0 && js.value > 0);
        assert.equal(verdict.ok, 'true', verdict.text);
        assert.match(verdict.text, new RegExp(`All ${(size * size).toLocaleString('en')} numbers`));
      }
      await holdsNothing(page);
    });

    it('attends with both masks and every number of heads', { timeout: 300_000 }, async () => {
      for (const heads of [1, 2, 4, 8]) {
        await page.evaluate((id) => document.querySelector(id).click(), at(`attention-heads-${heads}`));
        for (let causal = 0; causal < 2; causal++) {
          await page.evaluate((id) => document.querySelector(id).click(), at('attention-causal'));
          const { state, text } = await click(page, at('attention-run'));
          assert.equal(state, 'ready', text);
          const [difference, bound, verdict] = await Promise.all(
            ['attention-maxdiff', 'attention-bound', 'attention-verdict'].map((id) => read(page, id)),
          );
          assert.ok(difference.value >= 0 && difference.value <= bound.value, `difference ${difference.value}, bound ${bound.value}`);
          assert.equal(verdict.ok, 'true', verdict.text);
        }
      }
      const filled = await page.evaluate(() => {
        const canvas = document.getElementById('heatmap');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
      assert.ok(filled > 10, `the heat map shows ${filled} colours`);
      await holdsNothing(page);
    });

    it('says what to do where the model is missing', { timeout: 60_000 }, async () => {
      const { state } = await click(page, at('minilm-load'));
      assert.equal(state, 'failed');
      const { text } = await read(page, 'failure');
      assert.match(text, /fetch-models/);
      page.problems.splice(0, page.problems.length, ...page.problems.filter((line) => !/404/.test(line)));
    });

    it('gives the GPU back, says so, and takes it again', { timeout: 120_000 }, async () => {
      const released = await click(page, at('context-toggle'));
      assert.equal(released.state, 'failed');
      assert.equal(await page.evaluate(() => document.querySelector("[data-testid='failure']").dataset.code), 'released');
      assert.equal(await page.evaluate(() => document.querySelector("[data-testid='matmul-run']").getAttribute('aria-disabled')), 'true');
      await click(page, at('context-toggle'));
      await ready(page);
      assert.equal(await page.evaluate(() => document.querySelector("[data-testid='failure']").hidden), true);
      const { state, text } = await click(page, at('attention-run'));
      assert.equal(state, 'ready', text);
      assert.equal((await read(page, 'attention-verdict')).ok, 'true');
    });

    it('left no error and no warning in the console', () => assert.deepEqual(page.problems, []));

    const sizes = {
      desktop: { width: 1280, height: 900 },
      phone: { width: start.name === 'firefox' ? 500 : 360, height: 740, touch: true },
    };
    for (const [device, size] of Object.entries(sizes)) {
      for (const dark of start.name === 'firefox' ? [false] : [false, true]) {
        it(`fits a ${device}, ${dark ? 'dark' : 'light'}`, { timeout: 180_000 }, async () => {
          const view = await browser.open(server.url, { ...size, dark });
          await ready(view);
          await click(view, at('attention-run'));
          const over = await view.evaluate(() => {
            const width = document.documentElement.clientWidth;
            const wide = [...document.querySelectorAll('body *')].filter(
              (el) => !el.closest('pre') && el.getBoundingClientRect().right > width + 1 && !el.closest('.visually-hidden'),
            );
            return { beyond: document.documentElement.scrollWidth - width, wide: wide.slice(0, 5).map((el) => el.outerHTML.slice(0, 80)) };
          });
          assert.ok(over.beyond <= 0, `${over.beyond} px too wide: ${over.wide.join(' ')}`);
          await view.screenshot(join(screenshots, `${start.name}-${device}-${dark ? 'dark' : 'light'}.png`));
          assert.deepEqual(view.problems, []);
          await view.close();
        });
      }
    }
  });
}

describe('the demo page without WebGPU', () => {
  it('says which browsers have it', { timeout: 120_000 }, async () => {
    const browser = await browsers.chromium();
    try {
      const page = await browser.open(server.url, {
        first: () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined }),
      });
      await page.evaluate(async () => {
        while (document.querySelector("[data-testid='status']").dataset.state !== 'failed')
          await new Promise((next) => setTimeout(next, 50));
      });
      assert.match((await read(page, 'failure')).text, /no WebGPU/);
      assert.deepEqual(page.problems, []);
    } finally {
      await browser.close();
    }
  });
});

describe('the demo page on the dev server', () => {
  it('computes', { timeout: 150_000 }, async () => {
    const dev = await serveVite(join(root, 'www'));
    const browser = await browsers.chromium();
    try {
      const page = await browser.open(dev.url);
      await ready(page);
      const { state, text } = await click(page, at('attention-run'));
      assert.equal(state, 'ready', text);
      assert.equal((await read(page, 'attention-verdict')).ok, 'true');
      assert.deepEqual(page.problems, []);
    } finally {
      await dev.close();
      await browser.close();
    }
  });
});
