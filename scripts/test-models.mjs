// Tests the example models on their real weights: fetches them, then runs MiniLM and SmolLM2 natively and MiniLM in Chromium.
//
//   node scripts/test-models.mjs [--all]     --all: every greedy token too

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const all = process.argv.includes('--all');
const steps = [
  ['node', 'scripts/fetch-models.mjs'],
  ['cargo', 'test', '--test', 'models', ...(all ? ['--', '--include-ignored'] : [])],
  ['node', '--test', 'tests/models/minilm.browser.mjs'],
];

for (const [command, ...args] of steps) {
  console.log(`> ${command} ${args.join(' ')}`);
  const { status, error } = spawnSync(command, args, { cwd: fileURLToPath(new URL('..', import.meta.url)), stdio: 'inherit' });
  if (status !== 0) {
    console.error(`test-models: ${error?.message ?? `${command} ended with ${status}`}`);
    process.exit(1);
  }
}
