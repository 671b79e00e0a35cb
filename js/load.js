// Loads the wasm: finds the file, checks it, and starts it once.

import { optionsOf, refuse } from './arguments.js';
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

/** How every wasm file begins. */
const MAGIC = [0, 0x61, 0x73, 0x6d];

/** @param {number[]} bytes */
const hex = (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');

/**
 * Starts the wasm, unless it runs or is being started. After a failure the next call tries again.
 * @param {Parameters<typeof Init>[0]} [options]
 */
export function init(options) {
  loading ??= start(options).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** @param {Parameters<typeof Init>[0]} options */
async function start(options) {
  const source = optionsOf('init', options).wasm ?? new URL('tensorweft_bg.wasm', import.meta.url);
  try {
    const code = await codeOf(await source);
    const module = code instanceof WebAssembly.Module ? code : await WebAssembly.compile(code);
    // A wrong module must not reach the glue, which keeps the first one it is given: a second try would get that again.
    const names = WebAssembly.Module.exports(module).map(({ name }) => name);
    if (!names.includes('setup')) {
      const exported = names.slice(0, 4).join(', ') || 'nothing';
      fail('init', 'wasm-load', `the wasm given exports ${exported}, but that of tensorweft is expected`);
    }
    ({ memory } = await load({ module_or_path: module }));
  } catch (error) {
    if (error instanceof TensorError) throw error;
    const policy = "the page's content security policy forbids wasm; add 'wasm-unsafe-eval' to its script-src. The browser says";
    throw failure(isForbidden() ? policy : 'the wasm could not be started', error);
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

/** Whether a content security policy forbids wasm in this page: then even an empty module is refused. */
function isForbidden() {
  try {
    new WebAssembly.Module(Uint8Array.of(...MAGIC, 1, 0, 0, 0));
    return false;
  } catch {
    return Boolean(globalThis.WebAssembly);
  }
}

/**
 * The bytes, or the compiled module, of what `init` was given.
 * @param {Source} source
 * @returns {Promise<BufferSource | WebAssembly.Module>}
 */
async function codeOf(source) {
  if (source instanceof WebAssembly.Module || source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  if (typeof source !== 'string' && !(source instanceof URL || source instanceof Request || source instanceof Response)) {
    refuse('init', 'wasm', source, 'a URL, Request, Response, bytes or WebAssembly.Module');
  }
  const response = source instanceof Response ? source : await request(source);
  if (response instanceof Uint8Array) return response;
  const from = response.url || 'the given response';
  const moved = from.includes('/.vite/deps/')
    ? "; Vite before 8 moves the module away from its wasm: set optimizeDeps.exclude to ['tensorweft']"
    : '';
  if (!response.ok) fail('init', 'wasm-load', `could not load the wasm from ${from}: HTTP ${response.status}${moved}`);
  // WebAssembly.compileStreaming would be a little faster, but refuses responses whose MIME type is not application/wasm.
  const bytes = new Uint8Array(await response.arrayBuffer());
  const first = Array.from(bytes.subarray(0, MAGIC.length));
  if (first.join() !== MAGIC.join()) {
    const page = first[0] === 0x3c ? ' (the server answered with a page; is the path right?)' : '';
    const why = `it begins with ${hex(first) || 'nothing'}, but ${hex(MAGIC)} is expected`;
    fail('init', 'wasm-load', `what was loaded from ${from} is not wasm: ${why}${page}${moved}`);
  }
  return bytes;
}

/**
 * Fetches the file. Node's `fetch` takes no file: URLs, so there the file is read.
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
 * Throws if there is no WebGPU. It is called before the wasm is loaded, which would be of no use then.
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
