// Compiles usage.ts against the installed tarball: strict, libraries checked too, by an old and a new TypeScript.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../../scripts/shell.mjs';
import { emptyFolder, pack } from './pack.mjs';

const folder = emptyFolder();
const home = join(folder, 'node_modules', 'tensorweft');
mkdirSync(home, { recursive: true });
spawnSync('tar', ['xzf', pack().tarball, '-C', home, '--strip-components=1']);
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
copyFileSync(join(root, 'tests', 'package', 'usage.ts'), join(folder, 'usage.ts'));

// The first resolution, of TypeScript before `exports` in package.json, is gone from the newest.
const resolutions = { node10: 'esnext', node16: 'node16', bundler: 'esnext' };
for (const [compiler, label] of [
  ['typescript', 'the newest TypeScript'],
  ['typescript-5.4', 'TypeScript 5.4'],
]) {
  for (const [moduleResolution, module] of Object.entries(resolutions).slice(compiler === 'typescript' ? 1 : 0)) {
    // The second has no `disposable` library and no DOM-wide types beyond what the package asks for itself.
    for (const lib of [
      ['esnext', 'dom'],
      ['es2022', 'dom'],
    ]) {
      it(`compiles with ${label}, resolution ${moduleResolution}, library ${lib[0]}`, () => {
        const compilerOptions = {
          strict: true,
          noEmit: true,
          skipLibCheck: false,
          noUncheckedIndexedAccess: true,
          exactOptionalPropertyTypes: true,
          target: 'es2022',
          module,
          moduleResolution,
          lib,
          types: [],
        };
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['usage.ts'] }));
        const tsc = join(root, 'node_modules', compiler, 'bin', 'tsc');
        const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', timeout: 120_000 });
        assert.equal(stdout, '');
        assert.equal(status, 0);
      });
    }
  }
}
