// Reads from the sources which ops there are, for tests that compare the places that name them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-5.4';
import { root } from '../../scripts/shell.mjs';
import { INDEX, statements } from './declarations.mjs';

export const read = (path) => readFileSync(join(root, path), 'utf8');
export const sorted = (names) => [...new Set(names)].sort();
export const camel = (name) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Methods that take `&self` in Rust files, as name → arguments; those of `impl KvCache` are no ops. */
export function rustMethods(...files) {
  const source = files
    .map(read)
    .join('\n')
    .replaceAll(/^impl KvCache \{.*?^\}/gms, '');
  const methods = source.matchAll(/^ {4}pub (?:async )?fn (\w+)\(\s*&self,?([^)]*)\)/gm);
  return new Map([...methods].map(([, name, args]) => [name, [...args.matchAll(/(\w+): /g)].map(([, arg]) => arg)]));
}

const published = statements(INDEX);

/** Methods of a published class, as name → arguments, those that may be left out with a `?`. */
export function jsMethods(name) {
  const declared = published.find((statement) => ts.isClassDeclaration(statement) && statement.name.text === name);
  const methods = declared.members.filter((member) => ts.isMethodDeclaration(member) && !member.modifiers && ts.isIdentifier(member.name));
  return new Map(methods.map((method) => [method.name.text, method.parameters.map((p) => p.name.text + (p.questionToken ? '?' : ''))]));
}

/** The functions of src/ops, as name → arguments. */
export const ops = rustMethods(...readdirSync(join(root, 'src', 'ops')).map((file) => join('src', 'ops', file)));
