// Servers on loopback for the tests: one for static files, with the content security policy under which the package must work, and
// Vite's.

import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { endTree, spawnTree } from './shell.mjs';

const CSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' data:";

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
  '.css': 'text/css',
};

/**
 * Serves folders under the URL prefixes in `mounts`; the longest prefix wins. A mount is a folder, or `{ folder, types, policy }`
 * with content types of its own by extension, or a content security policy of its own.
 */
export async function serve(mounts) {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  const find = (path) => {
    const prefix = prefixes.find((start) => path.startsWith(start));
    if (!prefix) return undefined;
    const { folder = mounts[prefix], types, policy = CSP } = mounts[prefix];
    const file = join(folder, normalize(`/${path.slice(prefix.length) || 'index.html'}`));
    const type = { ...TYPES, ...types }[extname(file)] ?? 'application/octet-stream';
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? { file, type, policy } : undefined;
  };
  const server = createServer((request, response) => {
    const found = find(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    if (!found) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
      return;
    }
    response.writeHead(200, { 'content-type': found.type, 'content-security-policy': found.policy, 'cache-control': 'no-store' });
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

/**
 * Vite's dev server for the project in `folder`, or with the argument `preview` a server of its built pages. It starts even if a
 * developer has one running for the same folder.
 */
export async function serveVite(folder, ...args) {
  const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
  const child = spawnTree(
    process.execPath,
    [vite, ...args, ...(args.length ? [] : ['--bypass-lock']), '--host', '127.0.0.1', '--port', '0'],
    { cwd: folder, env: { NO_COLOR: '1' } },
  );
  let output = '';
  const url = await new Promise((resolve, reject) => {
    const fail = (why) => {
      endTree(child);
      reject(new Error(`no address from Vite (${why}):\n${output}`));
    };
    const timer = setTimeout(fail, 60_000, 'waited a minute');
    child.once('close', () => fail('it ended'));
    const listen = (chunk) => {
      output += chunk;
      const [address] = output.match(/http:\/\/127\.0\.0\.1:\d+\//) ?? [];
      if (!address) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
  });
  return { url, close: async () => endTree(child) };
}
