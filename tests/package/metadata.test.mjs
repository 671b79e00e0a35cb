// Holds what Cargo.toml and package.json both say to each other.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../../scripts/shell.mjs';

const manifest = readFileSync(join(root, 'Cargo.toml'), 'utf8');
const npm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const cargo = (key) => manifest.match(new RegExp(`^${key} = "(.*)"`, 'm'))?.[1];

it('the crate and the package have one name, version and licence', () => {
  for (const key of ['name', 'version', 'license']) assert.equal(cargo(key), npm[key], key);
  for (const key of ['name', 'version']) assert.equal(lock[key], npm[key], `package-lock.json, ${key}`);
});

it("the package's address is that of Cargo.toml, or neither has one", () => {
  const url = cargo('repository');
  const wanted = url
    ? { repository: { type: 'git', url: `git+${url}.git` }, homepage: `${url}#readme`, bugs: { url: `${url}/issues` } }
    : {};
  const { repository, homepage, bugs } = npm;
  assert.deepEqual(JSON.parse(JSON.stringify({ repository, homepage, bugs })), wanted);
});
