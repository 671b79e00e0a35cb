// Every case of the facade tests by name, in the order they run. Importable outside a browser, for the names.

import { faults } from './cases/faults.mjs';
import { lifecycle } from './cases/lifecycle.mjs';
import { memory } from './cases/memory.mjs';
import { messages } from './cases/messages.mjs';
import { misuse } from './cases/misuse.mjs';
import { ops } from './cases/ops.mjs';

const all = [
  ...Object.entries(ops),
  ...Object.entries(misuse),
  ...Object.entries(messages),
  ...Object.entries(faults),
  ...Object.entries(lifecycle),
  ...Object.entries(memory),
];
export const cases = new Map(all);
if (cases.size !== all.length) throw new Error('two cases share a name');
