// One whole run on one adapter: the card's limits, then every row, ours and the peers in turn. Gives one object, the JSON.
import { random, releaseData, scaled } from './data.js';
import { countDispatches, describe, findAdapter, lossOf, takeProblems } from './gpu.js';
import { measureLimits, openHand } from './limits.js';
import { calibrate, round, summary } from './measure.js';
import { taskOf, verify } from './ops.js';
import { rows as suiteRows } from './suite.js';

export const PEERS = ['ort', 'tfjs', 'jax'];

const LOADERS = {
  ours: () => import('./libs/ours.js'),
  ort: () => import('./libs/ort.js'),
  tfjs: () => import('./libs/tfjs.js'),
  jax: () => import('./libs/jax.js'),
};

/** Seconds that a library may take for a step of a row. Whoever takes longer is left out from then on: the run must end. */
const PATIENCE = 60;

const message = (error) => String(error?.message ?? error).slice(0, 400);

function within(seconds, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error(`took more than ${seconds} s`), { late: true })), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** `?only=regex&peers=ort,tfjs,jax|none&rounds=7&small&vendor=nvidia&seconds=170` */
export function optionsFrom(query) {
  const peers = query.get('peers');
  return {
    only: query.get('only') ? new RegExp(query.get('only')) : undefined,
    peers: peers === null ? PEERS : PEERS.filter((name) => peers.split(',').includes(name)),
    rounds: Number(query.get('rounds')) || undefined,
    small: query.has('small'),
    vendor: query.get('vendor') ?? undefined,
    seconds: Number(query.get('seconds')) || Infinity,
  };
}

/** Runs all. `log` gets lines of progress. Whatever a library does wrong becomes an entry; the rest goes on. */
export async function runAll(options, log = () => {}) {
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  const adapter = () => findAdapter(options.vendor);
  const about = describe(await adapter());
  const small = options.small || about.software;
  const target = small ? 2 : 25;
  const result = {
    format: 1,
    date: new Date().toISOString(),
    stack: 'browser',
    browser: navigator.userAgent,
    adapter: about,
    isolated: globalThis.crossOriginIsolated === true,
    small,
    software: about.software,
    target,
    libraries: {},
    limits: {},
    rows: [],
  };
  log(`adapter: ${[about.vendor, about.architecture, about.description].filter(Boolean).join(' ')}${about.software ? '; software: times mean nothing' : ''}`);

  const limitRounds = options.rounds ?? (small ? 2 : 7);
  result.limits = await measureLimits(adapter, { small, target, rounds: limitRounds });
  log(`limits: ${result.limits.fma.tflops.toFixed(1)} TFLOP/s, ${result.limits.copy.gbs.toFixed(0)} GB/s, ${result.limits.dispatch.emptyUs.toFixed(2)} us a dispatch (${seconds().toFixed(1)} s)`);

  const libraries = await openLibraries(['ours', ...options.peers], { small }, result, log);
  const hand = await openHand(adapter);
  for (const row of suiteRows({ small, only: options.only })) {
    const rounds = options.rounds ?? (small ? 2 : row.rounds);
    if (seconds() > options.seconds) {
      result.rows.push({ ...row, results: {}, left: `not run: ${options.seconds} s had passed` });
      continue;
    }
    const at = seconds();
    const waits = row.op === 'readback' || row.op === 'upload';
    const measured = await measureRow(row, waits ? [...libraries, hand] : libraries, { target, rounds });
    result.rows.push(measured);
    log(`${line(measured)} (${(seconds() - at).toFixed(1)} s)`);
  }
  for (const library of [...libraries, hand]) await within(PATIENCE, Promise.resolve().then(() => library.close?.())).catch(() => {});
  releaseData();
  result.limits.after = await measureLimits(adapter, { small, target, rounds: limitRounds }, true);
  result.limits.moved = Math.max(
    Math.abs(result.limits.after.fma.tflops / result.limits.fma.tflops - 1),
    Math.abs(result.limits.after.copy.gbs / result.limits.copy.gbs - 1),
  );
  result.seconds = seconds();
  log(`done in ${result.seconds.toFixed(1)} s; FMA and copy moved by ${(100 * result.limits.moved).toFixed(1)} %`);
  return result;
}

async function openLibraries(names, context, result, log) {
  const open = [];
  for (const name of names) {
    const begun = performance.now();
    try {
      const library = await within(PATIENCE, LOADERS[name]().then((module) => module.open(context)));
      const { vendor, architecture } = library.adapter;
      if (`${vendor} ${architecture}` !== `${result.adapter.vendor} ${result.adapter.architecture}`) {
        throw new Error(`computes on another adapter, ${vendor} ${architecture}`);
      }
      open.push(library);
      result.libraries[name] = { label: library.label, version: __VERSIONS__[name], startMs: performance.now() - begun };
    } catch (error) {
      if (name === 'ours') throw error;
      result.libraries[name] = { label: name, version: __VERSIONS__[name], error: message(error) };
      log(`${name} did not start: ${message(error)}`);
    }
  }
  return open;
}

/** How the kinds of rows are prepared, timed and checked. Calls of `waits` rows wait for their own end. */
function kindOf(row) {
  const [first, length] = row.dims;
  if (row.op === 'chain') {
    const x = random(length);
    const b = scaled(random(length, 4099), 1 / first);
    const check = (values) => compare(values, (i) => x[i] + first * b[i], (i) => first * 2 ** -24 * (Math.abs(x[i]) + first * Math.abs(b[i])));
    return { waits: true, prepare: (library) => library.chain(x, b, first), check: async ({ call }) => check(await call()) };
  }
  if (row.op === 'record') return { records: true, prepare: (library) => library.record(random(first)) };
  if (row.op === 'readback') {
    const x = random(first);
    const check = async ({ before, call }) => {
      await before?.();
      return compare(await call(), (i) => x[i], () => 1e-30);
    };
    return { waits: true, bytes: 4 * first, prepare: (library) => library.readback(x), check };
  }
  if (row.op === 'upload') {
    const x = random(first);
    const check = async (each) => {
      await each.call();
      return compare(await each.check(), (i) => x[i], () => 1e-30);
    };
    return { waits: true, bytes: 4 * first, prepare: (library) => library.upload(x), check };
  }
  const task = taskOf(row);
  return {
    flops: task.flops,
    bytes: task.bytes,
    weights: task.weights,
    prepare: (library) => library.prepare(row, task),
    check: (each) => verify(task, each.rows),
  };
}

/** The largest error of an array as a part of its bound. */
function compare(values, want, bound) {
  let error = 0;
  for (let i = 0; i < values.length; i++) {
    const part = Math.abs(values[i] - want(i)) / bound(i);
    error = Number.isFinite(part) ? Math.max(error, part) : Infinity;
  }
  return { error, samples: values.length };
}

async function measureRow(row, libraries, { target, rounds }) {
  const results = {};
  const running = [];
  let kind;
  try {
    kind = kindOf(row);
  } catch (error) {
    return { ...row, results, left: message(error) };
  }
  for (const library of libraries) {
    takeProblems(library.device);
    const gone = library.gone ?? lossOf(library.device);
    if (gone) {
      results[library.name] = { missing: `left out: ${gone}` };
      continue;
    }
    let each;
    try {
      each = await within(PATIENCE, Promise.resolve(kind.prepare(library)));
      if (each.missing) {
        results[library.name] = each;
        continue;
      }
      running.push(await within(PATIENCE, ready(kind, each, library, { target, rounds })));
    } catch (error) {
      if (error?.late) library.gone = `${row.name} ${error.message}`;
      results[library.name] = { missing: `failed: ${message(error)}`, problems: takeProblems(library.device) };
      await tidy(each);
    }
  }
  for (let i = 0; i < rounds; i++) {
    for (const run of running) {
      if (i >= run.rounds || run.failed) continue;
      await within(PATIENCE, round(run.timed, run.n)).then((ms) => run.times.push(ms), (error) => {
        run.failed = message(error);
        if (error?.late) run.library.gone = `${row.name} ${run.failed}`;
      });
    }
  }
  for (const { library, each, n, entry, times, failed } of running) {
    results[library.name] = failed ? { missing: `failed: ${failed}` } : { ...summary(times), calls: n, ...entry };
    const problems = takeProblems(library.device);
    if (problems.length) results[library.name].problems = problems;
    await tidy(each);
  }
  const { flops, bytes, weights } = kind;
  return { ...row, flops, bytes, weights, results };
}

/** Frees what a row held; a library that fails even at this has said so before. */
const tidy = (each) => within(PATIENCE, Promise.resolve().then(() => each?.dispose?.())).catch(() => {});

/** Checks one library's results and finds out how many calls make a round. */
async function ready(kind, each, library, { target, rounds }) {
  const entry = { note: each.note, tried: each.tried };
  if (kind.check) {
    const { error, samples } = await kind.check(each);
    entry.check = { error: Number.isFinite(error) ? error : null, samples, ok: error <= 1 };
  }
  const timed = timing(kind, each, library);
  if (!kind.waits && !kind.records) {
    const batch = timed.batch ?? 1;
    const dispatches = await countDispatches(async () => {
      await timed.call(batch);
      await library.done();
    });
    entry.dispatches = dispatches / batch;
  }
  const { n, ms } = await calibrate(timed, target);
  // What takes very long is not repeated as often: the run must end.
  return { library, each, timed, n, entry, times: [], rounds: ms > 1500 ? 1 : ms > 400 ? Math.min(3, rounds) : rounds };
}

/** The calls and the wait that make a round. */
function timing(kind, each, library) {
  if (kind.records) {
    // The time until the calls return: what they queued is over before the next round begins.
    const calls = Math.max(500, each.batch ?? 1);
    return { calls, before: library.done, call: async (n) => each.call(n), done: async () => {} };
  }
  if (!kind.waits) return { call: async (n) => each.call(n), done: library.done, batch: each.batch };
  const call = async (n) => {
    for (let i = 0; i < n; i++) await each.call();
  };
  return { calls: each.before && 1, before: each.before, call, done: async () => {} };
}

function line({ name, flops, weights, bytes, results, left }) {
  if (left) return `${name}: ${left}`;
  const parts = Object.entries(results).map(([library, r]) => {
    if (r.missing) return `${library} –`;
    const rate = rateOf({ flops, weights, bytes }, r.ms);
    return `${library} ${rate ? `${rate.value.toPrecision(3)} ${rate.unit}` : `${(r.ms * 1000).toPrecision(3)} us`}${r.check && !r.check.ok ? ' WRONG' : ''}`;
  });
  return `${name}: ${parts.join(', ')}`;
}

/** Speed in the unit of a row's limit. */
export function rateOf({ weights, flops, bytes }, ms) {
  if (weights) return { value: weights / ms / 1e6, unit: 'GB/s' };
  if (flops) return { value: flops / ms / 1e9, unit: 'TFLOP/s' };
  if (bytes) return { value: bytes / ms / 1e6, unit: 'GB/s' };
  return undefined;
}
