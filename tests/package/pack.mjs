// Packs the npm package as a user would get it, once for all package tests of a run.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../scripts/shell.mjs';

/** An empty folder that is gone when the test process ends. */
export function emptyFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'tensorweft-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function npm(args, cwd) {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** `{ tarball, files }`: the path of the packed package and the paths in it. dist/ is packed as it was built. */
export function pack() {
  const folder = emptyFolder();
  const [{ filename, files }] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  return { tarball: join(folder, filename), files: files.map(({ path }) => path).sort() };
}
