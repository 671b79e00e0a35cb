// The benchmark itself: that its checks catch wrong results, its bars fail what is slow, and its page runs through: `npm run test:bench`.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { BARS, judge } from '../../bench/src/bars.js';
import { normalCdf, taskOf, verify } from '../../bench/src/ops.js';
import { markdown } from '../../bench/src/report.js';
import { rows } from '../../bench/src/suite.js';
import { buildPage, runPage } from '../../scripts/bench.mjs';

const SPECIAL = ['chain', 'record', 'readback', 'upload'];

describe('the checks', () => {
  const ops = rows({ small: true }).filter(({ op }) => !SPECIAL.includes(op));

  for (const row of ops) {
    it(`refuse zeros, and a NaN, as results of ${row.name}`, async () => {
      const task = taskOf(row);
      const zeros = await verify(task, (ids, width) => new Float32Array(ids.length * width));
      assert.ok(zeros.error > 1 && zeros.samples >= 64, `${zeros.error} of the bound in ${zeros.samples} samples`);
      const nans = await verify(task, (ids, width) => new Float32Array(ids.length * width).fill(NaN));
      assert.equal(nans.error, Infinity);
    });
  }

  it('accept a product that is right, and not one that is off by 1e-5', async () => {
    const [m, k, n] = [16, 7, 12];
    const task = taskOf({ op: 'mm', dims: [m, k, n] });
    const [a, b] = task.inputs.map(({ data }) => data);
    const product = (off) => (ids) => {
      const element = (i, j) => Array.from({ length: k }, (_, l) => a[i * k + l] * b[l * n + j]).reduce((x, y) => x + y);
      return Float32Array.from(ids.flatMap((i) => Array.from({ length: n }, (_, j) => element(i, j) + off)));
    };
    assert.ok((await verify(task, product(0))).error <= 1);
    assert.ok((await verify(task, product(1e-5))).error > 1);
  });

  it('refuse to judge by few samples', () => assert.rejects(verify(taskOf({ op: 'mm', dims: [2, 3, 4] }), (ids) => new Float32Array(4 * ids.length)), /samples/));

  it('know the normal distribution', () => {
    for (const [x, want] of [[0, 0.5], [1, 0.8413447460685429], [-3, 0.0013498980316300933], [4, 0.9999683287581669]]) {
      assert.ok(Math.abs(normalCdf(x) - want) < 1e-14, `${x}: ${normalCdf(x)}`);
    }
  });
});

/** A run in which every row of ours takes `ms`, each peer `factor` times as long, on a card of which that is all it can do. */
function run(factor, more = {}) {
  const entry = (ms) => ({ ms, spread: 0, rounds: 7, calls: 1, check: { error: 0.1, samples: 64, ok: true } });
  const table = rows().map((row) => {
    const [a, b, c] = row.dims;
    const flops = row.op.startsWith('mm') ? 2 * a * b * c : row.op === 'causal' ? 4 * b * row.dims[3] * ((a * (a + 1)) / 2) : undefined;
    const ms = row.op === 'record' ? 0.002 : row.op === 'chain' ? 0.5 : 1;
    return { ...row, flops: flops && 50e9, bytes: 4e9, weights: row.op.startsWith('mm') && a <= 8 ? 4e9 : undefined, results: { ours: entry(ms), ort: entry(ms * factor), tfjs: entry(ms * factor * 1.1), hand: entry(ms) } };
  });
  return {
    format: 1, date: '2026-12-03T00:00:00Z', browser: 'Chrome/156', adapter: { vendor: 'v', architecture: 'a', description: '' }, software: false, small: false, libraries: {},
    limits: { fma: { tflops: 60 }, copy: { gbs: 4100 }, dispatch: { dependentUs: 2 }, read1k: { us: 200 } }, rows: table, ...more,
  };
}

describe('the bars', () => {
  const verdicts = (result, native) => judge(result, native).map(({ ok }) => ok);

  it('name only rows that the suite has', () => {
    const names = new Set(rows().map(({ name }) => name));
    for (const { what, parts } of BARS) for (const { row } of parts) assert.ok(names.has(row), `${what}: ${row}`);
  });

  it('are met by a run that is fast', () => {
    const fast = run(3);
    assert.deepEqual(judge(fast, fast).filter(({ ok }) => !ok), []);
  });

  it('fail where a peer is as fast', () => {
    const failed = judge(run(1), run(1)).filter(({ ok }) => ok === false).map(({ what }) => what);
    for (const bar of BARS.filter(({ parts }) => parts.some(({ label }) => /peer|× ort/.test(label)))) assert.ok(failed.includes(bar.what), bar.what);
  });

  it('fail where the result is far from the limits', () => {
    const far = run(3, { limits: { fma: { tflops: 600 }, copy: { gbs: 41000 }, dispatch: { dependentUs: 0.1 }, read1k: { us: 10 } } });
    const failed = judge(far, far).filter(({ ok }) => ok === false);
    assert.equal(failed.length, BARS.filter(({ parts }) => parts.some(({ label }) => /FMA|copy|allowed/.test(label))).length - 1); // recording has a limit of its own
  });

  it('are open, not met, without a measurement, with a wrong result, and on software', () => {
    assert.ok(verdicts(run(3, { rows: [] }), run(3)).every((ok) => ok === undefined));
    assert.ok(verdicts(run(3, { software: true }), run(3)).every((ok) => ok === undefined));
    const wrong = run(3);
    for (const row of wrong.rows) if (row.name === 'mm 4096x4096x4096') row.results.ours.check.ok = false;
    assert.equal(judge(wrong, wrong)[0].ok, undefined);
  });

  it('do not count a peer that is wrong', () => {
    const wrong = run(0.5);
    for (const row of wrong.rows) {
      row.results.ort.check.ok = false;
      row.results.tfjs.ms *= 10;
    }
    assert.equal(judge(wrong, wrong).find(({ what }) => what === 'matmul 1024³').ok, true);
  });

  it('become a table that marks wrong results', () => {
    const wrong = run(2);
    wrong.rows.find(({ name }) => name === 'causal 2048x32x8x64').results.ort.check.ok = false;
    const table = markdown(wrong);
    assert.match(table, /^\| mm 4096×4096×4096 \| TFLOP\/s \| 50\.0 \| 25\.0 \|/m);
    assert.match(table, /^\| causal 2048×32×8×64 \| TFLOP\/s \| 50\.0 \| 25\.0 ✗ \|/m);
  });
});

describe('the benchmark page in Chromium', { concurrency: false }, () => {
  before(() => buildPage({ ofPackage: false }), { timeout: 400_000 });

  it('measures and checks ours and every peer', { timeout: 180_000 }, async () => {
    const names = ['mm 64x96x80', 'softmax 16x128', 'chain 20x256'];
    const { result, problems } = await runPage({ small: '', only: `^(${names.join('|')})$` }, { log: () => {}, seconds: 150 });
    assert.equal(result.error, undefined);
    assert.deepEqual(problems.filter((text) => /uncaught/.test(text)), []);
    assert.equal(result.small, true);
    for (const [name, value] of Object.entries({ fma: result.limits.fma.tflops, copy: result.limits.copy.gbs, dispatch: result.limits.dispatch.dependentUs, submit: result.limits.submit.emptyUs, read: result.limits.read1k.us })) {
      assert.ok(value > 0, `${name}: ${value}`);
    }
    assert.deepEqual(result.rows.map(({ name }) => name), names);
    for (const { name, results } of result.rows) {
      for (const library of ['ours', 'ort', 'tfjs', 'jax']) {
        const entry = results[library];
        assert.ok(entry?.ms > 0, `${library} in ${name}: ${JSON.stringify(entry ?? result.libraries[library])}`);
        assert.ok(entry.check.ok && entry.check.samples >= 64, `${library} in ${name}: ${JSON.stringify(entry.check)}`);
        assert.equal(entry.problems, undefined);
      }
    }
    if (result.software) assert.ok(judge(result).every(({ ok }) => ok === undefined));
  });

  it('posts an error where it cannot run', { timeout: 60_000 }, async () => {
    const { result } = await runPage({ small: '', only: '(' }, { log: () => {}, seconds: 50 });
    assert.match(result.error, /regular expression/i);
  });
});
