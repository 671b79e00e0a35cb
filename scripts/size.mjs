// Prints what a page downloads of dist/ (raw, gzip, brotli) and fails above the limit: `npm run size`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { main, root } from './shell.mjs';

const LIMIT = 130_000;
const FILES = ['index.js', 'tensorweft.js', 'tensorweft_bg.wasm'];

export function reportSize() {
  const rows = FILES.map((name) => {
    const bytes = readFileSync(join(root, 'dist', name));
    const brotli = brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    });
    return [name, bytes.length, gzipSync(bytes, { level: 9 }).length, brotli.length];
  });
  const total = ['total', ...[1, 2, 3].map((column) => rows.reduce((sum, row) => sum + row[column], 0))];
  for (const [name, ...sizes] of [['bytes', 'raw', 'gzip', 'brotli'], ...rows, total]) {
    console.log(name.padEnd(20) + sizes.map((size) => size.toLocaleString('en').padStart(10)).join(''));
  }
  if (total[3] > LIMIT)
    throw new Error(`${total[3].toLocaleString('en')} bytes after brotli, above the limit of ${LIMIT.toLocaleString('en')}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main('size', reportSize);
