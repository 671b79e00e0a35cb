// Builds the page into dist/: static, from any folder, all of it from this origin.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;

export default defineConfig({
  base: './',
  define: {
    __VERSIONS__: {
      ours: version('tensorweft'),
      ort: version('onnxruntime-web'),
      tfjs: version('@tensorflow/tfjs-backend-webgpu'),
      jax: version('@jax-js/jax'),
    },
  },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 4000 },
});
