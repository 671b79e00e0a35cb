// What an editor shows of each published name: a text of its own, for every member, parameter and field of an option.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import ts from 'typescript-5.4';
import { INDEX, statements, strings } from './declarations.mjs';

/** Symbols in object types, such as those that tell typed arrays apart, are nobody's to read. */
const isMember = (node) => ts.isClassElement(node) || (ts.isTypeElement(node) && !ts.isComputedPropertyName(node.name));

/** All that has a name of its own below a statement: the statement, its members, and the fields of object types in them. */
function named(statement) {
  const found = [statement];
  const visit = (node) => {
    if (isMember(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(statement, visit);
  return found;
}

const nameOf = (node) => node.name?.getText() ?? 'constructor';

/** A name with those around it, for messages. */
function path(node) {
  const names = [];
  for (let at = node; at && !ts.isSourceFile(at); at = at.parent)
    if (at === node || isMember(at) || ts.isClassLike(at)) names.unshift(nameOf(at));
  return names.join('.');
}

/** What is wrong with the texts of these statements. */
function faults(all, codes) {
  const wrong = [];
  for (const statement of all) {
    const lines = new Map();
    for (const node of named(statement)) {
      const source = node.getSourceFile();
      const line = source.getLineAndCharacterOfPosition(node.name?.getStart() ?? node.getStart()).line;
      if (lines.has(line)) wrong.push(`${path(node)} shares a line with ${lines.get(line)}`);
      lines.set(line, path(node));
      const docs = node.jsDoc ?? [];
      if (docs.length !== 1 || !ts.getTextOfJSDocComment(docs[0].comment)?.trim()) {
        wrong.push(`${path(node)} has no text of its own`);
        continue;
      }
      if (!ts.isMethodDeclaration(node) && !ts.isFunctionDeclaration(node)) continue;
      for (const { name } of node.parameters) {
        const tag = docs[0].tags?.find((tag) => ts.isJSDocParameterTag(tag) && tag.name.getText() === name.getText());
        if (!ts.getTextOfJSDocComment(tag?.comment)) wrong.push(`${path(node)}: no @param ${name.getText()}`);
      }
      const throws = docs[0].tags?.find((tag) => tag.tagName.text === 'throws')?.getText() ?? '';
      const named = [...throws.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)].map(([, code]) => code);
      if (node.parameters.length && !named.some((code) => codes.includes(code))) wrong.push(`${path(node)}: @throws names no code`);
    }
  }
  return wrong;
}

const codes = strings(INDEX, 'ErrorCode');

it('every published name has a text and a line of its own; calls describe their arguments and their errors', () => {
  const all = statements(INDEX);
  const counted = all.flatMap(named).length;
  assert.ok(counted > 90, `only ${counted} names were found`);
  assert.deepEqual(faults(all, codes), []);
});

it('finds a name without a text, a shared line, and what is left out', () => {
  const source = ts.createSourceFile(
    'x.d.ts',
    `
    /** Bad. */
    export class Bad {
      /** Two. */
      a(): void; b(): void;
      /** Undescribed. */
      c(x: number): void;
      /**
       * Fields.
       * @param x - has one
       * @throws \`disposed\`
       */
      d(x: { y: number }): void;
    }`,
    ts.ScriptTarget.Latest,
    true,
  );
  assert.deepEqual(faults([...source.statements], codes), [
    'Bad.b shares a line with Bad.a',
    'Bad.b has no text of its own',
    'Bad.c: no @param x',
    'Bad.c: @throws names no code',
    'Bad.d.y shares a line with Bad.d',
    'Bad.d.y has no text of its own',
  ]);
});
