// Holds js/index.d.ts to contract.d.ts: every declaration and member of the contract, token by token. What came later is
// in additions.d.ts, but for ops of one or two tensors: ops.test.mjs and readme.test.mjs hold those to the crate.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import ts from 'typescript-5.4';

/** The tokens of a text: comments, line breaks, `declare` and the last separator do not count. */
function tokens(text) {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const found = [];
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) found.push(scanner.getTokenText().replaceAll('"', "'"));
  while ([';', ','].includes(found.at(-1))) found.pop();
  return found.filter((token) => token !== 'declare').join(' ').replaceAll(/([=(<:]) \| /g, '$1 ');
}

/** Declarations as a map: a class or interface gives its head and one entry a member, anything else one entry. */
function declarations(file) {
  const source = ts.createSourceFile(file, readFileSync(new URL(file, import.meta.url), 'utf8'), ts.ScriptTarget.Latest, true);
  assert.deepEqual(source.parseDiagnostics.map(({ messageText }) => messageText), [], file);
  const all = [];
  for (const statement of source.statements) {
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

const contract = declarations('contract.d.ts');
const additions = declarations('additions.d.ts');
const published = declarations('../../js/index.d.ts');

it('every declaration of the contract is published', () => {
  assert.deepEqual(contract.filter((declaration) => !published.includes(declaration)), []);
});

it('every addition is published', () => {
  assert.deepEqual(additions.filter((declaration) => !published.includes(declaration)), []);
});

it('nothing else is published, but constructors that keep users out', () => {
  const extra = published.filter((declaration) => !contract.includes(declaration) && !additions.includes(declaration));
  const known = [/^\w+: private constructor \( \)$/, /^export \{ \}$/, /^Tensor: \w+ \( (?:\w+ : Tensor )?\) : Tensor$/, /^export type OpName = [\w'| ]+$/];
  assert.deepEqual(extra.filter((declaration) => !known.some((pattern) => pattern.test(declaration))), []);
});
