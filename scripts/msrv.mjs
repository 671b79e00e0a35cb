// Holds the crate to the oldest Rust that Cargo.toml names: `node scripts/msrv.mjs`.
//
// That compiler checks the library for both targets. Where it cannot be had, what is left is said to be less: what the
// dependencies declare, and clippy's lint of newer parts of the standard library, which is no check of the language.

import { fileURLToPath } from 'node:url';
import { setup, tool } from './setup.mjs';
import { ask, main, run } from './shell.mjs';

const newer = (version, than) => {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  return a[0] - b[0] || (a[1] ?? 0) - (b[1] ?? 0) || (a[2] ?? 0) - (b[2] ?? 0);
};

/** The package and what users compile with it, without what only its tests use. */
function compiled({ packages, resolve }) {
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const found = new Set([resolve.root]);
  for (const id of found) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) if (kinds.some(({ kind }) => kind !== 'dev')) found.add(pkg);
  }
  return packages.filter(({ id }) => found.has(id));
}

/** `{ ok, output, why, note }`, as the steps of test.mjs. */
export async function checkMsrv() {
  const metadata = JSON.parse(ask('cargo', 'metadata', '--locked', '--format-version', '1'));
  const all = compiled(metadata);
  const { rust_version: version } = all.find(({ id }) => id === metadata.resolve.root);
  const late = all.filter(({ rust_version: needs }) => needs && newer(needs, version) > 0);
  if (late.length)
    return {
      ok: false,
      output: '',
      why: `need a newer Rust than ${version}: ${late.map(({ name, version: v, rust_version: needs }) => `${name} ${v} (${needs})`).join(', ')}`,
    };
  console.log(`none of the ${all.length} packages declares a Rust newer than ${version}`);

  await setup(['target', 'oldest']);
  const oldest = tool.oldestCargo();
  if (!oldest) {
    const note = `NOT compiled by Rust ${version}, which rustup could not bring`;
    console.log(`${note}: what the dependencies declare and clippy's incompatible_msrv are all that was checked`);
    return { ok: true, output: '', note };
  }
  for (const target of [[], ['--target', 'wasm32-unknown-unknown']]) {
    const [command, ...args] = [...oldest, 'check', '--locked', '--lib', ...target];
    const result = await run(command, args);
    if (!result.ok) return result;
  }
  return { ok: true, output: '', note: `compiled by Rust ${version}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main('msrv', async () => {
    const { ok, why } = await checkMsrv();
    if (!ok) throw new Error(why);
  });
}
