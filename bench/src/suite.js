// The rows of suite.json, which the page and the native benchmarks share.
import suite from '../suite.json' with { type: 'json' };

/** Every row as `{ name, op, dims, chain, plot, rounds }`, in order. `small` caps the dimensions for software adapters. */
export function rows({ small = false, only } = {}) {
  const found = new Map();
  for (const { dims: list, ...row } of suite.rows) {
    for (const full of list) {
      const dims = small ? cap(row.op, full) : full;
      const name = `${row.op} ${dims.join('x')}`;
      if (only && !only.test(name)) continue;
      if (!found.has(name)) found.set(name, { rounds: suite.rounds, chain: false, ...row, name, dims });
    }
  }
  return [...found.values()];
}

function cap(op, dims) {
  const most = suite.small[op];
  // Heads must still divide each other: either the small heads or the row's own, which are few enough.
  if (op === 'causal' || op === 'decode') return [Math.min(dims[0], most[0]), ...most.slice(1)];
  return dims.map((d, i) => Math.min(d, most[i]));
}
