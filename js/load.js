// Finds the wasm file, checks it and starts it, once.

import { fail, TensorError } from './errors.js';
import load, { setup } from './tensorweft.js';

/** @import { init as Init } from './types/init.js' */
/** @typedef {Exclude<NonNullable<Parameters<typeof Init>[0]>['wasm'], undefined>} Source what `init` takes */

/**
 * The memory of the running wasm.
 * @type {WebAssembly.Memory}
 */
export let memory;

/** @type {Promise<void> | undefined} */
let loading;

/**
 * Starts the wasm unless it runs or is starting. A failure is forgotten, so that the next call tries again.
 * @param {Parameters<typeof Init>[0]} [options]
 */
export function init(options) {
  loading ??= start(options?.wasm).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** @param {Source} [given] */
async function start(given) {
  const source = given ?? new URL('tensorweft_bg.wasm', import.meta.url);
  try {
    const code = await codeOf(await source);
    const module = code instanceof WebAssembly.Module ? code : await WebAssembly.compile(code);
    // Checked first: the glue keeps whatever module it was given first, and a second try would get that one.
    if (!WebAssembly.Module.exports(module).some(({ name }) => name === 'setup')) {
      throw new TensorError('wasm-load', 'init: the given wasm is not that of tensorweft');
    }
    ({ memory } = await load({ module_or_path: module }));
  } catch (error) {
    if (error instanceof TensorError) throw error;
    throw failure('the wasm could not be started', error);
  }
  setup((code, message) => new TensorError(code, message));
}

/**
 * @param {string} what
 * @param {unknown} cause
 */
function failure(what, cause) {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new TensorError('wasm-load', `init: ${what}: ${why}`, { cause });
}

/**
 * The bytes or the module behind what `init` was given.
 * @param {Source} source
 * @returns {Promise<BufferSource | WebAssembly.Module>}
 */
async function codeOf(source) {
  if (source instanceof WebAssembly.Module || source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const response = source instanceof Response ? source : await request(source);
  if (response instanceof Uint8Array) return response;
  const from = response.url || 'the given response';
  const moved = from.includes('/.vite/deps/')
    ? "; Vite before 8 moves the module away from its wasm: set optimizeDeps.exclude to ['tensorweft']"
    : '';
  if (!response.ok) throw new TensorError('wasm-load', `init: could not load the wasm from ${from}: HTTP ${response.status}${moved}`);
  // compileStreaming would refuse a server that does not call the file application/wasm; it is small enough to wait for.
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!(bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d)) {
    const html = bytes[0] === 0x3c ? ' (the server answered with a page; is the path right?)' : '';
    throw new TensorError('wasm-load', `init: what was loaded from ${from} is not wasm${html}${moved}`);
  }
  return bytes;
}

/**
 * Fetches a file; in Node, whose `fetch` does not read files, reads it.
 * @param {string | URL | Request} source
 */
async function request(source) {
  const url = String(source instanceof Request ? source.url : source);
  /** @type {any} */
  const { process } = globalThis;
  const fs = url.startsWith('file:') && process?.getBuiltinModule?.('node:fs');
  try {
    return fs ? new Uint8Array(fs.readFileSync(new URL(url))) : await fetch(source);
  } catch (error) {
    throw failure(`could not load the wasm from ${url}`, error);
  }
}

export const hasWebGpu = () => Boolean(globalThis.navigator?.gpu);

/**
 * To be called before anything is loaded: without WebGPU there is no use for the wasm.
 * @param {string} op
 */
export function needWebGpu(op) {
  if (hasWebGpu()) return;
  fail(
    op,
    'no-webgpu',
    globalThis.isSecureContext === false
      ? 'WebGPU needs a secure page: serve it over https or from localhost'
      : 'WebGPU is not available here: use a current browser with WebGPU switched on',
  );
}
