// A module Worker that computes one product with the package, for the lifecycle cases.

import { Context } from '/dist/index.js';

try {
  const ctx = await Context.create();
  const x = ctx.tensor([1, 2, 3, 4], [2, 2]);
  postMessage({ product: await x.mm(x).toArray(), adapters: (await Context.enumerate()).length });
  ctx.destroy();
} catch (error) {
  postMessage({ failure: `${error.code}: ${error.message}` });
}
