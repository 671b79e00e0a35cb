// Prints the adapters that the package finds in each browser, and fails where there is none.

import { join } from 'node:path';
import { browsers } from './browsers.mjs';
import { serve } from './serve.mjs';
import { main, root } from './shell.mjs';

await main('adapters', async () => {
  const server = await serve({ '/': join(root, 'tests', 'facade'), '/dist/': join(root, 'dist') });
  try {
    for (const start of Object.values(browsers)) {
      const browser = await start();
      try {
        const page = await browser.open(`${server.url}blank.html`);
        const adapters = await page.evaluate(async () => (await import('/dist/index.js')).Context.enumerate());
        for (const { name, backend, deviceType } of adapters)
          console.log(`adapter: ${browser.name} ${browser.version}: ${name} (${backend}, ${deviceType})`);
        if (!adapters.length) throw new Error(`${browser.name} offers no WebGPU adapter`);
      } finally {
        await browser.close();
      }
    }
  } finally {
    await server.close();
  }
});
