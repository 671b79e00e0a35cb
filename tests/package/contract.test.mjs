// Holds the published types to contract.d.ts: every declaration and member of the contract, token by token. What came later
// is in additions.d.ts, but for ops of one or two tensors: ops.test.mjs and readme.test.mjs hold those to the crate.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.4';
import { INDEX, statements } from './declarations.mjs';

/** The tokens of a text: comments, line breaks, `declare` and separators behind the last of a list do not count. */
function tokens(text) {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const found = [];
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) found.push(scanner.getTokenText().replaceAll('"', "'"));
  while ([';', ','].includes(found.at(-1))) found.pop();
  const joined = found.filter((token) => token !== 'declare').join(' ');
  return joined.replaceAll(/([=(<:]) \| /g, '$1 ').replaceAll(/[,;] ([)}])/g, '$1');
}

/** A class or interface as its head and one entry a member, anything else as one entry. */
function declarations(path) {
  const all = [];
  for (const statement of statements(path)) {
    if (!statement.members) {
      all.push(tokens(statement.getText()));
      continue;
    }
    const name = statement.name.text;
    all.push(tokens(statement.getText().slice(0, statement.members.pos - statement.getStart())));
    for (const member of statement.members) all.push(`${name}: ${tokens(member.getText())}`);
  }
  return all;
}

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const contract = declarations(beside('contract.d.ts'));
const additions = declarations(beside('additions.d.ts'));
const published = declarations(INDEX);

it('every declaration of the contract is published', () => {
  assert.deepEqual(
    contract.filter((declaration) => !published.includes(declaration)),
    [],
  );
});

it('every addition is published', () => {
  assert.deepEqual(
    additions.filter((declaration) => !published.includes(declaration)),
    [],
  );
});

it('nothing else is published, but constructors that keep users out', () => {
  const extra = published.filter((declaration) => !contract.includes(declaration) && !additions.includes(declaration));
  const known = [/^\w+: private constructor \( \)$/, /^Tensor: \w+ \( (?:\w+ : Tensor )?\) : Tensor$/];
  assert.deepEqual(
    extra.filter((declaration) => !known.some((pattern) => pattern.test(declaration))),
    [],
  );
});
