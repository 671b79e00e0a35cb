// The assertions of the facade's cases. They run in the page, so they need nothing of Node.

const show = (value) =>
  value instanceof Error ? `${value.name} ${value.code}: ${value.message}` : (JSON.stringify(value) ?? String(value));

export function ok(condition, what) {
  if (!condition) throw new Error(what);
}

export function same(got, want, what = 'value') {
  ok(JSON.stringify(got) === JSON.stringify(want), `${what}: got ${show(got)}, want ${show(want)}`);
}

/** Element by element within `abs + rel·|want|`. Bounds default to those of elementwise ops. */
export function close(got, want, { rel = 2e-6, abs = 1e-7, what = 'result' } = {}) {
  ok(got instanceof Float32Array, `${what}: not a Float32Array but ${show(got)}`);
  same(got.length, want.length, `${what}, length`);
  for (let i = 0; i < want.length; i++) {
    const fine = Number.isNaN(want[i])
      ? Number.isNaN(got[i])
      : got[i] === want[i] || Math.abs(got[i] - want[i]) <= abs + rel * Math.abs(want[i]);
    ok(fine, `${what}[${i}]: got ${got[i]}, want ${want[i]}`);
  }
}

/** A TensorError of that code whose message matches. */
export function isTensorError(error, TensorError, code, pattern = /./) {
  ok(error instanceof TensorError && error instanceof Error, `not a TensorError: ${show(error)}`);
  ok(error.name === 'TensorError', `the error's name is ${error.name}`);
  ok([code].flat().includes(error.code), `code ${error.code} instead of ${code}: ${error.message}`);
  ok(pattern.test(error.message), `the message does not match ${pattern}: ${error.message}`);
  ok(typeof error.stack === 'string' && error.stack.length > 0, 'the error has no stack');
}

/** `f` throws at the call: a Promise that rejects later is not enough. */
export function throws(f, TensorError, code, pattern) {
  let result;
  try {
    result = f();
  } catch (error) {
    isTensorError(error, TensorError, code, pattern);
    return;
  }
  result?.catch?.(() => {});
  throw new Error(`nothing was thrown at the call; it returned ${Object.prototype.toString.call(result)}`);
}

/** How a Promise ends, given some seconds. */
export function settles(promise, seconds = 5) {
  const late = new Promise((resolve) => setTimeout(resolve, seconds * 1000, { how: 'hang' }));
  return Promise.race([
    Promise.resolve(promise).then(
      (value) => ({ how: 'value', value }),
      (error) => ({ how: 'error', error }),
    ),
    late,
  ]);
}

export async function rejects(promise, TensorError, code, pattern) {
  const { how, error } = await settles(promise);
  ok(how === 'error', `the Promise did not reject but: ${how}`);
  isTensorError(error, TensorError, code, pattern);
}
