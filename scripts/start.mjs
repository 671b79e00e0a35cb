// Builds the package and serves the demo page: `npm start`.

import { join } from 'node:path';
import { build } from './build.mjs';
import { setup } from './setup.mjs';
import { main, root, spawnTree } from './shell.mjs';

await main('start', async () => {
  await build();
  await setup(['demo']);
  const vite = join(root, 'www', 'node_modules', 'vite', 'bin', 'vite.js');
  const server = spawnTree(process.execPath, [vite, ...process.argv.slice(2)], {
    cwd: join(root, 'www'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const status = await new Promise((resolve) => server.once('close', resolve));
  if (status) throw new Error(`the server ended with status ${status}`);
});
