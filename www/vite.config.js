// How Vite serves and builds the demo: a static page that works from any folder and never inlines what its CSP would refuse.
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  appType: 'mpa', // an absent file answers 404 rather than with index.html
  optimizeDeps: { exclude: ['tensorweft'] }, // it finds its .wasm beside itself
  server: { fs: { allow: ['..'] } }, // the package is the folder above
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
