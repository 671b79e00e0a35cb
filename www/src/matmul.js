// The product panel: one size at a time on the GPU and in JavaScript, compared number by number, both timed.
import { drawBars } from './bars.js';
import { productRows, spread } from './reference.js';
import { isOff, onContext, run, say } from './session.js';
import { breathe, choose, figure, filled, part, random, show, small, verdict } from './ui.js';

const SIZES = [256, 512, 1024, 1536, 2048];
const ALL_ROWS_UP_TO = 512;
const SAMPLED_ROWS = 48;
const TARGET_MS = 500;
const CHAIN_BYTES = 256 * 2 ** 20;

export function matmulPanel() {
  const form = document.getElementById('matmul-form');
  const bars = document.getElementById('matmul-bars');
  const results = new Map();
  let touched = false;
  choose(document.getElementById('matmul-sizes'), 'size', SIZES, 1024);
  form.addEventListener('change', () => {
    touched = true;
  });
  drawBars(bars, SIZES, results);

  onContext((ctx) => {
    if (ctx && !touched) form.elements.size.value = ctx.isSoftware ? '256' : '1024';
  });

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const n = Number(form.elements.size.value);
    run(async (ctx) => {
      const r = await multiply(ctx, n);
      results.set(n, r);
      drawBars(bars, SIZES, results);
      show('matmul-gflops', figure(r.gpu), r.gpu);
      show('matmul-gflops-js', figure(r.js), r.js);
      show('matmul-error', small(r.error), r.error);
      show('matmul-bound', `allowed ${small(r.bound)}`, r.bound);
      part('matmul-error').dataset.ratio = String(r.ratio);
      const which =
        r.rows === n
          ? `All ${(n * n).toLocaleString('en')} numbers`
          : `${r.rows} of ${n.toLocaleString('en')} rows, spread evenly, were checked: their ${(r.rows * n).toLocaleString('en')} numbers`;
      verdict(
        'matmul-verdict',
        r.ratio <= 1
          ? `${which} agree with the float64 loop. The nearest to its bound, 2√k·2⁻²⁴·Σ|aᵢbᵢ|, uses ${(100 * r.ratio).toPrecision(2)}% of it.`
          : `${which} were compared, and at least one is off by ${figure(r.ratio)} times its bound. Please report this adapter.`,
        r.ratio <= 1,
      );
      const gpu = [
        `Timing: ${r.reps} GPU products of ${n} × ${n} chained, each on the result before it,`,
        `and one read of a single row at the end; ${figure(r.ms)} ms in all${r.tries > 1 ? `, the median of ${r.tries} such chains` : ''}, after a first product to compile.`,
      ];
      const js = `The JavaScript loop ran over ${r.rows === n ? 'every row' : `${r.rows} rows`} on one CPU thread.`;
      show('matmul-timing', [...gpu, js].join(' '), r.reps);
      return `Multiplied ${n} × ${n}: ${figure(r.gpu)} GFLOP/s on the GPU, ${figure(r.js)} in JavaScript.`;
    });
  });
  form.querySelector('button').addEventListener('click', (event) => {
    if (isOff(event.currentTarget)) {
      event.preventDefault();
      run(() => {});
    }
  });
}

async function multiply(ctx, n) {
  say(`Multiplying ${n} × ${n} on the GPU …`);
  await breathe();
  const next = random(n);
  const dataA = filled(n * n, next);
  const dataB = filled(n * n, next);
  const a = ctx.tensor(dataA, [n, n]);
  const b = ctx.tensor(dataB, [n, n]);
  // Scaled so that a chain of any length keeps the size of its numbers.
  const step = b.mulScalar(Math.sqrt(3 / n));
  try {
    const c = a.mm(b);
    const got = await c.toArray();
    c.dispose();
    say(`Timing ${n} × ${n} on the GPU …`);
    const timed = await time(a, step, n);
    say(`Checking ${n} × ${n} with a JavaScript loop …`);
    const checked = await check(dataA, dataB, got, n);
    return { ...timed, ...checked, gpu: (2 * n ** 3 * timed.reps) / timed.ms / 1e6, js: (2 * n * n * checked.rows) / checked.jsMs / 1e6 };
  } finally {
    for (const t of [a, b, step]) t.dispose();
  }
}

/** Enough chained products to fill about TARGET_MS, three times unless that takes too long. */
async function time(a, step, n) {
  await chain(a, step, 1); // the read of one row compiles here
  const once = await chain(a, step, 1);
  const room = Math.floor(CHAIN_BYTES / (4 * n * n));
  const reps = Math.max(2, Math.min(room, 256, Math.ceil(TARGET_MS / once)));
  const tries = once * reps > 1500 ? 1 : 3;
  const runs = [];
  for (let i = 0; i < tries; i++) runs.push(await chain(a, step, reps));
  runs.sort((x, y) => x - y);
  return { reps, tries, ms: runs[tries >> 1] };
}

async function chain(a, step, reps) {
  const start = performance.now();
  let x = a;
  for (let i = 0; i < reps; i++) {
    const y = x.mm(step);
    if (x !== a) x.dispose();
    x = y;
  }
  const row = x.gather0([0]);
  x.dispose();
  await row.toArray();
  row.dispose();
  return performance.now() - start;
}

/** The largest error with the bound of that number, and the largest ratio of any error to its own bound. */
async function check(a, b, got, n) {
  const rows = n <= ALL_ROWS_UP_TO ? spread(n, n) : spread(n, SAMPLED_ROWS);
  const want = new Map();
  const jsMs = await productRows(a, b, n, rows, (i, row) => want.set(i, row.slice()));
  const unit = 2 * Math.sqrt(n) * 2 ** -24;
  let error = 0,
    bound = 0,
    ratio = 0;
  await productRows(a.map(Math.abs), b.map(Math.abs), n, rows, (i, sums) => {
    const exact = want.get(i);
    for (let j = 0; j < n; j++) {
      const difference = Math.abs(got[i * n + j] - exact[j]);
      const off = Number.isNaN(difference) ? Infinity : difference;
      const allowed = unit * sums[j];
      if (off > error) [error, bound] = [off, allowed];
      ratio = Math.max(ratio, off / allowed);
    }
  });
  return { rows: rows.length, jsMs, error, bound, ratio };
}
