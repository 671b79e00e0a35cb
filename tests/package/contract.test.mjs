// Holds js/index.d.ts to contract.d.ts: every declaration and member of the contract, token by token.

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
const published = declarations('../../js/index.d.ts');

it('every declaration of the contract is published', () => {
  assert.deepEqual(contract.filter((declaration) => !published.includes(declaration)), []);
});

/** What the contract leaves to us: heads of our own declarations. */
const OURS = [/^export type OpName = /, /^Context: warmup \( /];

it('nothing is published beyond the contract, but what is ours and constructors that keep users out', () => {
  const extra = published.filter((declaration) => !contract.includes(declaration) && !OURS.some((ours) => ours.test(declaration)));
  assert.deepEqual(extra.filter((declaration) => !/^\w+: private constructor \( \)$/.test(declaration) && declaration !== 'export { }'), []);
});
