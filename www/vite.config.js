// How Vite serves and builds the demo: a static page that works from any folder, without inlined files, which its content security
// policy would refuse.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const api = fileURLToPath(new URL('public/api/index.html', import.meta.url));

/** Puts a link in the place of `<!-- api -->` if the API page was built: `npm run docs`, one folder above. */
export const linkApi = (html, built) => html.replace('<!-- api -->', built ? '<li><a href="./api/index.html">API</a></li>' : '');

export default defineConfig({
  base: './',
  appType: 'mpa', // a missing file is a 404, not index.html
  optimizeDeps: { exclude: ['tensorweft'] }, // moved elsewhere it would not find its .wasm file
  server: { fs: { allow: ['..'] } }, // the package is the folder above
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  plugins: [{ name: 'link-api', transformIndexHtml: (html) => linkApi(html, existsSync(api)) }],
});
