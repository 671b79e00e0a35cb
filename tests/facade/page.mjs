// The page's side of the facade tests: holds the package and one shared context, and runs a case by its name.

import { cases } from './cases.mjs';
import { install, spy } from './spy.mjs';

install();
const tw = await import('/dist/index.js');

let shared;
const env = {
  tw,
  spy,
  TensorError: tw.TensorError,
  /** The context most cases share, so that each meets the pools and caches of those before it. */
  context: () => (shared ??= tw.Context.create()),
};

globalThis.runCase = async (name) => {
  try {
    await cases.get(name)(env);
    return {};
  } catch (error) {
    return { failure: error.stack?.includes(error.message) ? error.stack : `${error.message}\n${error.stack}` };
  }
};
globalThis.closing = () => ({ uncaptured: spy.uncaptured, shaderMessages: spy.shaderMessages });
