// What a run says, in words and tables, for the page and for the script that writes the README's table.

export const LIBRARIES = ['ours', 'ort', 'tfjs', 'jax', 'hand'];
const LABELS = { ours: 'tensorweft', ort: 'ONNX Runtime Web', tfjs: 'TensorFlow.js', jax: 'jax-js', hand: 'hand-written', burn: 'burn', ferric: 'ferric-core' };
export const labelOf = (name) => LABELS[name] ?? name;

/** Three figures, without exponents. */
export function figure(value) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0 || value >= 1000) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}

/** The unit in which a row is told: that of its limit where it has one. */
function unitOf({ op, weights, flops, bytes }) {
  if (op === 'record') return { unit: 'µs an op', of: (ms) => ms * 1000 };
  if (op === 'chain') return { unit: 'ms', of: (ms) => ms };
  if (weights) return { unit: 'GB/s', of: (ms) => weights / ms / 1e6 };
  if (flops) return { unit: 'TFLOP/s', of: (ms) => flops / ms / 1e9 };
  return { unit: 'GB/s', of: (ms) => bytes / ms / 1e6 };
}

/** A row as `{ name, unit, cells: { library: { value, text, note, wrong } } }`. */
export function tell(row) {
  const { unit, of } = unitOf(row);
  const cells = {};
  for (const [name, entry] of Object.entries(row.results)) {
    const wrong = entry.check?.ok === false;
    const value = entry.ms === undefined ? NaN : of(entry.ms);
    cells[name] = { value, ms: entry.ms, wrong, text: entry.ms === undefined ? '–' : `${figure(value)}${wrong ? ' ✗' : ''}`, note: entry.missing ?? noteOf(entry) };
  }
  return { name: row.name, unit, cells, left: row.left };
}

function noteOf({ ms, spread, rounds, calls, dispatches, check, note }) {
  const parts = [`${figure(ms)} ms, median of ${rounds} rounds of ${calls} calls, spread ${figure(100 * spread)} %`];
  if (dispatches) parts.push(`${figure(dispatches)} dispatches a call`);
  if (check) parts.push(check.ok ? `largest error ${figure(check.error)} of the bound in ${check.samples} samples` : `WRONG: error ${check.error === null ? 'not a number' : `${figure(check.error)} times the bound`}`);
  if (note) parts.push(note);
  return parts.join('; ');
}

/** How many times the fastest right peer's time ours is faster; NaN without one. */
export function ratioOf(row) {
  const peers = Object.entries(row.results).filter(([name, entry]) => name !== 'ours' && entry.ms !== undefined && entry.check?.ok !== false);
  return Math.min(...peers.map(([, entry]) => entry.ms)) / (row.results.ours?.ms ?? NaN);
}

const PLOTS = {
  matmul: { title: 'Matrix products n × n × n', x: 'n', of: ({ dims }) => dims[0] },
  attention: { title: 'Causal attention, 32/8 heads of 64', x: 'tokens', of: ({ dims }) => dims[0] },
  rows: { title: 'Softmax of 64 MB', x: 'row length', of: ({ dims }) => dims[1], also: ({ op, dims }) => op === 'softmax' && dims[0] * dims[1] === 2 ** 24 },
  ops: { title: 'Small ops in a chain, one read', x: 'ops', of: ({ dims }) => dims[0] },
};

/** The points of each plot: `{ name, title, x, points: [{ x, ms, library }] }`. Wrong results are no points. */
export function curves(result) {
  return Object.entries(PLOTS).map(([name, { title, x, of, also }]) => {
    const rows = result.rows.filter((row) => row.plot === name || also?.(row));
    const points = rows.flatMap((row) => Object.entries(row.results)
      .filter(([library, { ms, check }]) => library !== 'hand' && ms !== undefined && check?.ok !== false)
      .map(([library, { ms }]) => ({ x: of(row), ms, library })));
    return { name, title, x, points: points.sort((a, b) => a.x - b.x) };
  }).filter(({ points }) => points.length > 1);
}

/** The rows that the README shows. */
const SHOWN = [
  'mm 4096x4096x4096', 'mm 1024x1024x1024', 'mm 256x256x256', 'mm 16x4096x4096', 'mm 1x4096x11008',
  'softmax 16384x4096', 'layernorm 16384x4096', 'rmsnorm 16384x4096', 'rope 16384x32x128', 'add 16384x4096', 'gather0 16384x4096',
  'causal 2048x32x8x64', 'causal 4096x32x8x128', 'decode 8192x32x8x128', 'chain 500x1024', 'record 1024',
];

const dimensions = (name) => name.replace(/(?<=\d)x(?=\d)/g, '×');

/** The README's table of a run, in Markdown; of no run, a line that says so. */
export function markdown(result) {
  if (!result) return 'No run on a GPU is committed yet, so nothing is claimed here.';
  const peers = ['ort', 'tfjs', 'jax'];
  const { adapter, limits, date } = result;
  const browser = result.browser.match(/(?:Chrome|Firefox)\/(\d+)/);
  const head = [
    `${adapter.description || [adapter.vendor, adapter.architecture].filter(Boolean).join(' ')}, ${browser ? browser[0].replace('/', ' ') : result.browser}, ${date.slice(0, 10)}, one run: FMA ${figure(limits.fma.tflops)} TFLOP/s, copy ${figure(limits.copy.gbs)} GB/s. ✗: the result was wrong; –: no such op.`,
    '',
    `| | unit | ${['ours', ...peers].map(labelOf).join(' | ')} |`,
    `| --- | --- | ${['ours', ...peers].map(() => '---:').join(' | ')} |`,
  ];
  const rows = SHOWN.flatMap((name) => {
    const row = result.rows.find((each) => each.name === name);
    if (!row || row.left) return [];
    const { unit, cells } = tell(row);
    return [`| ${dimensions(name)} | ${unit} | ${['ours', ...peers].map((library) => cells[library]?.text ?? '–').join(' | ')} |`];
  });
  return [...head, ...rows].join('\n');
}
