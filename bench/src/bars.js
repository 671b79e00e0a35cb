// The bars: how near each group of rows must come to what the card can do, and how far ahead of the best peer it must be.
// Set for a large GPU (f32 without matrix units, in a browser); `must` says each in words, `parts` as data.

/** Speeds of PyTorch 2.11 in f32 on one H200, in GB/s read and written, measured apart from any run of this page. */
const TORCH = { softmax: { large: 2600, '64x49152': 1721 }, layernorm: { large: 3109, '64x49152': 449 } };

const LARGE = ['16384x4096', '65536x1024'];
const cube = (op, n) => `${op} ${n}x${n}x${n}`;
const products = (op) => ['256x256x256', '512x512x512', '1024x1024x1024', '2048x2048x2048', '4096x4096x4096', '1000x1000x1000', '1023x577x1537', '16x4096x4096', '128x4096x4096', '1x4096x4096', '1x4096x11008', '2x4096x4096', '4x4096x4096', '8x4096x4096'].map((dims) => `${op} ${dims}`);

/** The parts that a bar is made of. Each looks at one row of a run and gives a value and what it must be at least. */
const atLeast = (row, label, need, value) => ({ row, label, need, value });
const tflops = (row, need) => atLeast(row, 'TFLOP/s', need, (run) => run.tflops(row));
const ofFma = (row, need) => atLeast(row, 'of FMA', need, (run) => run.tflops(row) / run.fma);
const ofCopy = (row, need) => atLeast(row, 'of copy', need, (run) => run.gbs(row) / run.copy);
const overPeers = (row, need, only) => atLeast(row, only ? `× ${only}` : '× best peer', need, (run) => run.peerMs(row, only) / run.ms(row));
const overRow = (row, other, need) => atLeast(row, `of ${other}`, need, (run) => run.rate(row) / run.rate(other));
const overTorch = (row, gbs) => atLeast(row, '× PyTorch', 1, (run) => run.gbs(row) / gbs);

const norm = (op) => [...LARGE, '64x49152'].flatMap((dims) => [
  ofCopy(`${op} ${dims}`, 0.8),
  overPeers(`${op} ${dims}`, 2),
  ...(TORCH[op] ? [overTorch(`${op} ${dims}`, TORCH[op][dims] ?? TORCH[op].large)] : []),
]);

export const BARS = [
  {
    what: 'matmul 4096³, 2048³',
    must: '36 TFLOP/s, 75 % of FMA, 1.55 × the best peer',
    parts: [4096, 2048].flatMap((n) => [tflops(cube('mm', n), 36), ofFma(cube('mm', n), 0.75), overPeers(cube('mm', n), 1.55)]),
  },
  { what: 'matmul 1024³', must: '1.6 × the best peer', parts: [overPeers(cube('mm', 1024), 1.6)] },
  { what: 'matmul 512³, 256³, chained', must: '1.2 × the best peer', parts: [512, 256].map((n) => overPeers(cube('mm', n), 1.2)) },
  { what: 'mmBt against mm, same sizes', must: 'within 10 %', parts: products('mmBt').map((row) => overRow(row, row.replace('mmBt', 'mm'), 0.9)) },
  {
    what: '1023×577×1537, 1000³ against aligned',
    must: 'within 20 %',
    parts: [overRow('mm 1023x577x1537', 'mm 1024x576x1536', 0.8), overRow(cube('mm', 1000), cube('mm', 1024), 0.8)],
  },
  { what: '16×4096×4096, 128×4096×4096', must: '1.5 × the best peer', parts: [16, 128].map((m) => overPeers(`mm ${m}x4096x4096`, 1.5)) },
  {
    what: '1×4096×4096, 1×4096×11008, both layouts',
    must: '2 × the best peer; 65 % of copy on the larger',
    parts: ['mm', 'mmBt'].flatMap((op) => [overPeers(`${op} 1x4096x4096`, 2), overPeers(`${op} 1x4096x11008`, 2), ofCopy(`${op} 1x4096x11008`, 0.65)]),
  },
  {
    what: 'softmax, layernorm, rmsnorm, rope on 256 MB; 64×49152',
    must: '80 % of copy; 2 × the best peer; not behind PyTorch',
    parts: [
      ...['softmax', 'layernorm', 'rmsnorm'].flatMap(norm),
      ...['16384x32x128', '65536x16x64'].flatMap((dims) => [ofCopy(`rope ${dims}`, 0.8), overPeers(`rope ${dims}`, 2)]),
    ],
  },
  { what: 'elementwise, gather', must: '90 % of copy', parts: ['add', 'addBias', 'silu', 'gelu', 'gather0'].map((op) => ofCopy(`${op} 16384x4096`, 0.9)) },
  { what: 'transpose', must: '80 % of copy', parts: [ofCopy('transpose2d 16384x4096', 0.8)] },
  {
    what: 'causal attention 32/8/64 and 32/8/128, T 2048 and 4096',
    must: '35 % of FMA, 17 TFLOP/s, 1.9 × ORT',
    parts: [2048, 4096].flatMap((t) => [64, 128].flatMap((dh) => {
      const row = `causal ${t}x32x8x${dh}`;
      return [ofFma(row, 0.35), tflops(row, 17), overPeers(row, 1.9, 'ort')];
    })),
  },
  { what: 'decode attention 32/8/128, 8192 and 65,536 past', must: '50 % of copy on K+V', parts: [8192, 65536].map((t) => ofCopy(`decode ${t}x32x8x128`, 0.5)) },
  {
    what: 'chain of 500 small ops, then one read',
    must: '≤ 2 × (500 dispatches + readback)',
    parts: [atLeast('chain 500x1024', 'of the allowed speed', 1, (run) => (2 * (500 * run.dispatchMs + run.readMs)) / run.ms('chain 500x1024'))],
  },
  { what: 'recording an op, steady state', must: '≤ 3 µs', parts: [atLeast('record 1024', 'of the allowed speed', 1, (run) => 0.003 / run.ms('record 1024'))] },
  {
    what: 'Chromium against our native run',
    must: '≥ 85 % at the large sizes',
    parts: [cube('mm', 4096), cube('mm', 2048), 'softmax 16384x4096', 'layernorm 16384x4096', 'rmsnorm 16384x4096', 'add 16384x4096', 'causal 4096x32x8x64', 'causal 4096x32x8x128', 'decode 65536x32x8x128']
      .map((row) => atLeast(row, 'of native', 0.85, (run) => run.nativeMs(row) / run.ms(row))),
  },
  {
    what: 'readback and upload of 64 MB',
    must: 'the speed of a hand-written page, to 5 %',
    parts: ['readback', 'upload'].map((op) => atLeast(`${op} 16777216`, 'of hand-written', 0.95, (run) => run.peerMs(`${op} 16777216`, 'hand') / run.ms(`${op} 16777216`))),
  },
];

/** What a run shows, by row. Anything that was not measured, or came out wrong, is NaN. */
function reader(result, native) {
  const byName = (run) => new Map((run?.rows ?? []).map((row) => [row.name, row]));
  const [rows, natives] = [byName(result), byName(native)];
  const right = (entry) => entry?.ms !== undefined && entry.check?.ok !== false;
  const ms = (row, name = 'ours') => (right(rows.get(row)?.results[name]) ? rows.get(row).results[name].ms : NaN);
  const work = (row, key) => rows.get(row)?.[key] ?? NaN;
  const gbs = (row) => (work(row, 'weights') || work(row, 'bytes')) / ms(row) / 1e6;
  const tflops = (row) => work(row, 'flops') / ms(row) / 1e9;
  return {
    ms,
    gbs,
    tflops,
    rate: (row) => tflops(row) || gbs(row),
    peerMs(row, only) {
      const all = Object.entries(rows.get(row)?.results ?? {}).filter(([name, entry]) => (only ? name === only : name !== 'ours' && name !== 'hand') && right(entry));
      return all.length ? Math.min(...all.map(([, entry]) => entry.ms)) : NaN;
    },
    nativeMs: (row) => (right(natives.get(row)?.results.ours) ? natives.get(row).results.ours.ms : NaN),
    fma: result.limits?.fma?.tflops ?? NaN,
    copy: result.limits?.copy?.gbs ?? NaN,
    dispatchMs: (result.limits?.dispatch?.dependentUs ?? NaN) / 1000,
    readMs: (result.limits?.read1k?.us ?? NaN) / 1000,
  };
}

/**
 * Each bar with its parts: `{ what, must, ok, parts: [{ row, label, need, value, ok }] }`. `ok` is undefined where something
 * was not measured; where no peer has the op, there is no part to beat it. Runs on software prove nothing.
 */
export function judge(result, native) {
  const run = reader(result, native);
  const names = new Set((result.rows ?? []).map(({ name }) => name));
  return BARS.map(({ what, must, parts }) => {
    const judged = parts
      .map(({ row, label, need, value }) => ({ row, label, need, value: value(run) }))
      .filter(({ row, label, value }) => !(label === '× best peer' && names.has(row) && Number.isNaN(value) && !Number.isNaN(run.ms(row))))
      .map((part) => ({ ...part, ok: result.software || Number.isNaN(part.value) ? undefined : part.value >= part.need }));
    const ok = judged.some((part) => part.ok === false) ? false : judged.every((part) => part.ok) ? true : undefined;
    return { what, must, ok, parts: judged };
  });
}
