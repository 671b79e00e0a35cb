// Servers on loopback for the tests: static files, under the content security policy that the package promises to live with, and Vite.

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

/**
 * Vite's dev server, or its `preview` of the built pages, for the project in `folder`. It takes no turns with one that
 * a developer has running there.
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
