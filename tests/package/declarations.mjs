// The published types as trees, for the tests that hold them to something.

import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.4';

export const INDEX = fileURLToPath(new URL('../../js/index.d.ts', import.meta.url));

/** A program over one file and what it imports. */
export function load(path) {
  const program = ts.createProgram([path], {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const exported = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map(exported);
  return { program, checker, symbols };
}

/** The statements that declare what a file exports, wherever they are. */
export function statements(path) {
  return load(path).symbols.flatMap((symbol) => symbol.declarations);
}

/** The strings of an exported union, as the checker resolves it. */
export function strings(path, name) {
  const { checker, symbols } = load(path);
  return checker.getDeclaredTypeOfSymbol(symbols.find((symbol) => symbol.name === name)).types.map(({ value }) => value);
}
