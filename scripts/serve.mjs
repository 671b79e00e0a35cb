// A static file server on loopback for the tests, with the content security policy that the package promises to live under.

import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const CSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' data:";

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json', '.css': 'text/css' };

/**
 * Serves folders under the URL prefixes in `mounts`; the longest prefix wins. A mount is a folder, or
 * `{ folder, types }` with content types of its own by extension.
 */
export async function serve(mounts) {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  const find = (path) => {
    const prefix = prefixes.find((start) => path.startsWith(start));
    if (!prefix) return undefined;
    const { folder = mounts[prefix], types } = mounts[prefix];
    const file = join(folder, normalize(`/${path.slice(prefix.length) || 'index.html'}`));
    const type = { ...TYPES, ...types }[extname(file)] ?? 'application/octet-stream';
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? { file, type } : undefined;
  };
  const server = createServer((request, response) => {
    const found = find(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    if (!found) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
      return;
    }
    response.writeHead(200, { 'content-type': found.type, 'content-security-policy': CSP, 'cache-control': 'no-store' });
    createReadStream(found.file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
