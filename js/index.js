// The public face of the package. esbuild bundles the modules of this folder into dist/index.js.

export { Context } from './context.js';
export { TensorError } from './errors.js';
export { KvCache } from './kv-cache.js';
export { init } from './load.js';
export { Tensor } from './tensor.js';
