// How everything is timed: enough back-to-back calls for a round to last, one wait at the end, medians over the rounds.

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

/** Median, and the spread as (largest - smallest) / median. */
export function summary(times) {
  const middle = median(times);
  return { ms: middle, spread: (Math.max(...times) - Math.min(...times)) / middle, rounds: times.length };
}

/** Milliseconds that `n` calls take, from the first to the wait after the last. What `before` does is not timed. */
async function once({ before, call, done }, n) {
  await before?.();
  const begun = performance.now();
  await call(n);
  await done();
  return performance.now() - begun;
}

const CALLS_MAX = 20_000;

/** How many calls make a round of at least `target` milliseconds, unless `calls` says so; and how long they took. */
export async function calibrate(timed, target) {
  const batch = timed.batch ?? 1;
  if (timed.calls) {
    await once(timed, timed.calls);
    return { n: timed.calls, ms: await once(timed, timed.calls) };
  }
  const whole = (n) => Math.min(CALLS_MAX, Math.ceil(n / batch) * batch);
  await once(timed, batch);
  for (let n = batch; ; ) {
    const ms = await once(timed, n);
    if (ms >= target || n >= CALLS_MAX) return { n, ms };
    n = Math.max(n + batch, whole(n * Math.min(10, Math.max(1.25, (1.1 * target) / ms))));
  }
}

/** One round: milliseconds for each call. */
export async function round(timed, n) {
  return (await once(timed, n)) / n;
}

/** Rounds of one thing alone. */
export async function measure(timed, { target, rounds }) {
  const { n } = await calibrate(timed, target);
  const times = [];
  for (let i = 0; i < rounds; i++) times.push(await round(timed, n));
  return { ...summary(times), calls: n };
}

/** As `measure`, for calls that wait for themselves, where each call is a round; more than `rounds` where there is time. */
export async function measureEach({ call }, { rounds, most = 100 }) {
  const times = [];
  const until = performance.now() + most;
  for (let i = 0; i < rounds || (i < 50 * rounds && performance.now() < until); i++) {
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
  }
  return summary(times);
}
