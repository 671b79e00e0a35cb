// The one Context of the page: making it, losing it, one job at a time on it, and the dock that says what is going on.
import { Context } from 'tensorweft';
import { explain, PageError } from './failures.js';
import { breathe, bytes, part, show } from './ui.js';

let context = null;
let busy = false;
let fault = null; // why there is no context
const listeners = [];

/** Calls back with each new Context, and with null when it is gone. */
export const onContext = (listener) => listeners.push(listener);

export function say(text, state = busy ? 'busy' : 'ready') {
  const status = part('status');
  status.textContent = text;
  status.dataset.state = state;
}

/** Makes a context unless there is one. A failure is shown, not thrown. */
export async function open() {
  if (context || busy) return;
  busy = true;
  hideFailure();
  part('adapter-name').textContent = 'Looking for a GPU …';
  say('Looking for a GPU …');
  try {
    if (!window.isSecureContext) throw new PageError('insecure');
    if (!navigator.gpu) throw new PageError('no-webgpu');
    context = await Context.create();
    fault = null;
  } catch (error) {
    fault = error;
  }
  busy = false;
  announce();
  if (fault) return fail(fault);
  say('Ready.');
  const mine = context;
  mine.lost.then(({ message }) => {
    if (context === mine) drop(Object.assign(new Error(message || 'no reason given'), { code: 'device-lost' }));
  });
}

/** Gives the GPU back on purpose. */
export function release() {
  if (!context || busy) return;
  const old = context;
  drop(new PageError('released'));
  old.destroy();
}

function drop(error) {
  context = null;
  fault = error;
  announce();
  fail(error);
}

/** Runs one panel's work on the context; `work` returns the sentence to end with. */
export async function run(work) {
  if (busy) return;
  if (!context) return fault && fail(fault);
  busy = true;
  hideFailure();
  mark();
  try {
    await breathe();
    const end = await work(context);
    busy = false;
    say(end);
  } catch (error) {
    busy = false;
    if (error?.name === 'AbortError') say('Cancelled.');
    else if (context || !fault) fail(error); // a lost device has already been reported
  }
  mark();
  memory();
}

function announce() {
  show('adapter-name', context ? context.adapterName : 'No GPU in use', undefined);
  show('adapter-backend', context ? context.backend : '–', undefined);
  show('adapter-software', context ? (context.isSoftware ? 'Software' : 'Hardware') : '–', context?.isSoftware);
  document.getElementById('adapter').dataset.state = context ? 'open' : 'none';
  document.getElementById('adapter-note').textContent = !context
    ? explain(fault).advice
    : context.isSoftware
      ? 'A software adapter computes on the processor. It proves that the numbers are right; it says nothing about speed.'
      : 'A hardware adapter: the speeds below are those of this machine, in this browser.';
  const toggle = document.getElementById('context-toggle');
  toggle.textContent = context ? 'Release the GPU' : 'Make a new context';
  for (const listener of listeners) listener(context);
  mark();
  memory();
}

function mark() {
  for (const button of document.querySelectorAll('[data-run]')) {
    const off = busy || !context || button.dataset.off === 'true';
    button.setAttribute('aria-disabled', String(off));
  }
}

/** Buttons that wait for something of their own, such as the model. */
export function enable(button, on) {
  button.dataset.off = String(!on);
  mark();
}

export const isOff = (button) => button.getAttribute('aria-disabled') === 'true';

export function memory() {
  const m = context?.memory();
  show('memory-tensors', m ? `${m.tensors.toLocaleString('en')} ${m.tensors === 1 ? 'tensor' : 'tensors'}` : 'no context', m?.tensors);
  show('memory-live', m ? `${bytes(m.liveBytes)} live` : '', m?.liveBytes);
  show('memory-pooled', m ? `${bytes(m.pooledBytes)} pooled` : '', m?.pooledBytes);
  show('memory-peak', m ? `${bytes(m.peakBytes)} peak` : '', m?.peakBytes);
}

/** Shows a failure with what to do about it. */
export function fail(error) {
  const { code, headline, advice, renew, detail } = explain(error);
  const box = part('failure');
  const text = document.createElement('p');
  const strong = document.createElement('strong');
  strong.textContent = headline;
  text.append(strong, advice);
  const actions = document.createElement('div');
  actions.className = 'actions';
  if (renew) actions.append(action(renew, 'failure-action', open));
  actions.append(action('Dismiss', 'failure-dismiss', hideFailure, 'quiet'));
  box.replaceChildren(text, actions);
  if (detail) {
    const more = document.createElement('details');
    const summary = document.createElement('summary');
    summary.textContent = 'Detail';
    more.append(summary, `${code}: ${detail}`);
    box.append(more);
  }
  box.dataset.code = code;
  box.hidden = false;
  say(headline, 'failed');
}

function action(label, testid, run, className = '') {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: label, className });
  button.dataset.testid = testid;
  button.addEventListener('click', run);
  return button;
}

function hideFailure() {
  const box = part('failure');
  box.hidden = true;
  delete box.dataset.code;
}
