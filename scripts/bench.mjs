// Builds the benchmark page and serves it: `npm run bench`. With `-- --run OUT.json` runs it in headless Chromium.
// Options of the page: --only=regex --peers=ort,tfjs,jax|none --rounds=7 --small --seconds=170. With --no-build the page is used as
// it was built last.

import { createReadStream, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browsers } from './browsers.mjs';
import { build } from './build.mjs';
import { setup } from './setup.mjs';
import { main, must, root } from './shell.mjs';

const folder = join(root, 'bench');
const site = join(folder, 'dist');
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};
const PASSED = ['only', 'peers', 'rounds', 'small', 'seconds', 'vendor'];

/** The page, static, in bench/dist/. */
export async function buildPage({ ofPackage = true } = {}) {
  if (ofPackage || !existsSync(join(root, 'dist'))) await build();
  await setup(['bench']);
  await must(process.execPath, [join('node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: folder,
    limit: 300,
  });
}

/** Serves the page on loopback, isolated so that its clock is fine; `posted(path, body)` gets what the page posts. */
export async function servePage(posted = () => {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (request.method === 'POST') {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(204).end();
        posted(pathname, Buffer.concat(chunks).toString());
      });
      return;
    }
    const file = join(site, normalize(`/${decodeURIComponent(pathname)}`), pathname.endsWith('/') ? 'index.html' : '');
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
      return;
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
      'cache-control': 'no-store',
    });
    createReadStream(file).pipe(response);
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

/** Runs the built page in headless Chromium with `query`; resolves to its JSON. */
export async function runPage(query, { log = console.log, seconds = 3600 } = {}) {
  await setup(['modules', 'chromium']);
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  const server = await servePage((path, body) => (path === '/done' ? finish(JSON.parse(body)) : log(body)));
  const browser = await browsers.chromium();
  let timer;
  try {
    const late = new Promise(
      (_, reject) => (timer = setTimeout(() => reject(new Error(`the page took more than ${seconds} s`)), seconds * 1000)),
    );
    const page = await browser.open(`${server.url}?${new URLSearchParams({ ...query, post: '' })}`);
    const result = await Promise.race([finished, late]);
    return { result, problems: page.problems };
  } finally {
    clearTimeout(timer);
    await browser.close();
    await server.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main('bench', async () => {
    const [flags, files] = [new Map(), []];
    for (const given of process.argv.slice(2)) {
      const [, name, value] = given.match(/^--([a-z-]+)(?:=(.*))?$/) ?? [];
      if (name) flags.set(name, value ?? '');
      else files.push(given);
    }
    const unknown = [...flags.keys()].filter((name) => !['run', 'no-build', ...PASSED].includes(name));
    if (unknown.length || files.length > 1)
      throw new Error(`do not know ${[...unknown.map((name) => `--${name}`), ...files.slice(1)].join(', ')}`);
    const query = Object.fromEntries([...flags].filter(([name]) => PASSED.includes(name)));
    const run = flags.has('run') || files.length > 0;
    if (run && !files.length) throw new Error('name the file that the JSON goes to: npm run bench -- --run OUT.json');
    if (!flags.has('no-build')) await buildPage();
    if (!run) {
      const { url } = await servePage();
      console.log(`bench: ${url}${Object.keys(query).length ? `?${new URLSearchParams(query)}` : ''}`);
      return;
    }
    const { result, problems } = await runPage(query);
    mkdirSync(dirname(files[0]), { recursive: true });
    writeFileSync(files[0], `${JSON.stringify(result, null, 1)}\n`);
    for (const problem of problems) console.log(`bench: the page says: ${problem}`);
    if (result.error) throw new Error(result.error);
    console.log(`bench: wrote ${files[0]}`);
  });
}
