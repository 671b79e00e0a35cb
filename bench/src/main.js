// The page: runs the measurements and shows them. With `?post` it starts by itself and posts what it finds to /log and /done.
import { judge } from './bars.js';
import { watchDevices } from './gpu.js';
import { draw } from './plots.js';
import { curves, figure, labelOf, LIBRARIES, tell } from './report.js';
import { optionsFrom, runAll } from './run.js';

const query = new URLSearchParams(location.search);
const posting = query.has('post');
const at = (id) => document.getElementById(id);

const post = (path, body) => fetch(path, { method: 'POST', body });

function say(text, state) {
  at('status').textContent = text;
  at('status').dataset.state = state;
}

function log(text) {
  at('log').textContent += `${text}\n`;
  say(text, 'busy');
  if (posting) post('/log', text).catch(() => {});
}

let watching = false;
let running = false;
let latest;

async function start(options) {
  if (running) return;
  running = true;
  at('start').setAttribute('aria-disabled', 'true');
  let result;
  try {
    if (typeof GPUAdapter === 'undefined') throw new Error('this browser has no WebGPU, or the page is not secure');
    if (!watching) watchDevices();
    watching = true;
    result = await runAll(options, log);
    show(result);
    say(`Done in ${figure(result.seconds)} s.`, 'done');
  } catch (error) {
    result = { format: 1, error: String(error?.stack ?? error), log: at('log').textContent };
    say(`It failed: ${error?.message ?? error}`, 'failed');
  }
  running = false;
  at('start').removeAttribute('aria-disabled');
  if (posting) await post('/done', JSON.stringify(result));
}

function element(name, properties = {}, ...children) {
  const { ok, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  if ('ok' in properties) made.dataset.ok = String(ok);
  made.append(...children);
  return made;
}

const header = (...names) => element('thead', {}, element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name))));

function show(result) {
  latest = result;
  at('result').hidden = false;
  at('save').hidden = false;
  at('warning').hidden = !result.software && !result.small;
  at('warning').textContent = result.software
    ? 'This adapter computes on the CPU. The run shows that everything works; its times mean nothing, and nothing is judged.'
    : 'A small run: it shows that everything works, not how fast it is.';

  const { limits, adapter } = result;
  const pairs = {
    adapter: adapter.description || [adapter.vendor, adapter.architecture].filter(Boolean).join(' '),
    'f32 FMA': `${figure(limits.fma.tflops)} TFLOP/s`,
    copy: `${figure(limits.copy.gbs)} GB/s`,
    'empty dispatch': `${figure(limits.dispatch.emptyUs)} µs`,
    'small op, independent': `${figure(limits.dispatch.independentUs)} µs`,
    'small op, dependent': `${figure(limits.dispatch.dependentUs)} µs`,
    submit: `${figure(limits.submit.emptyUs)} µs`,
    'read of 4 bytes': `${figure(limits.read4.us)} µs`,
    'read of 1 KB': `${figure(limits.read1k.us)} µs`,
    'moved in the run': `${figure(100 * (limits.moved ?? NaN))} %`,
  };
  at('limits').replaceChildren(...Object.entries(pairs).map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));

  const bars = judge(result).map(({ what, must, ok, parts }) => {
    const list = parts.map((part) => element('li', { ok: part.ok }, ` ${part.row}: ${figure(part.value)} ${part.label}, ${figure(part.need)} asked`));
    const met = parts.filter((part) => part.ok).length;
    // Few parts stand there, many behind a line that says how many are met; what is missed stands there always.
    const few = list.length <= 3 ? list : list.filter((_, i) => parts[i].ok === false);
    const rest = list.filter((item) => !few.includes(item));
    const cell = element('td', {}, element('ul', {}, ...few));
    if (rest.length) cell.append(element('details', {}, element('summary', {}, `${met} of ${parts.length} met`), element('ul', {}, ...rest)));
    return element('tr', {}, element('th', { scope: 'row', ok }, ` ${what}`), element('td', {}, must), cell);
  });
  at('bars').replaceChildren(header('what', 'must', 'measured'), element('tbody', {}, ...bars));

  const libraries = LIBRARIES.filter((name) => result.rows.some((row) => row.results[name]));
  const rows = result.rows.filter((row) => !row.left).map((row) => {
    const { name, unit, cells } = tell(row);
    const values = libraries.map((library) => {
      const cell = cells[library];
      const { error } = result.libraries[library] ?? {};
      return element('td', { className: [library, cell?.wrong ? 'wrong' : ''].join(' '), title: cell?.note ?? error ?? 'not measured' }, cell?.text ?? '–');
    });
    return element('tr', {}, element('th', { scope: 'row' }, name), ...values, element('td', { className: 'unit' }, unit));
  });
  at('rows').replaceChildren(header('row', ...libraries.map(labelOf), 'unit'), element('tbody', {}, ...rows));

  at('plots').replaceChildren(...curves(result).map((curve) => element('figure', { style: 'margin:0' }, element('h3', {}, curve.title), draw(curve))));
}

at('form').addEventListener('submit', (event) => {
  event.preventDefault();
  if (running) return;
  const form = new FormData(event.target);
  let only;
  try {
    only = form.get('only') ? new RegExp(form.get('only')) : undefined;
  } catch (error) {
    say(error.message, 'failed');
    return;
  }
  const given = optionsFrom(query);
  start({ ...given, only: only ?? given.only, peers: form.has('peers') ? given.peers : [], small: form.has('small') || given.small });
});

at('save').addEventListener('click', () => {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(latest, null, 1)}\n`], { type: 'application/json' }));
  element('a', { href: url, download: `tensorweft-bench-${latest.date.slice(0, 10)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
});

at('open').addEventListener('change', async ({ target }) => {
  try {
    if (!target.files[0]) return;
    show(JSON.parse(await target.files[0].text()));
    say(`Shows ${target.files[0].name}.`, 'done');
  } catch (error) {
    say(`That is no run of this page: ${error.message}`, 'failed');
  }
});

if (posting) {
  // Nothing may be left hanging: whatever nobody caught ends up in the log.
  addEventListener('error', (event) => log(`error: ${event.message}`));
  addEventListener('unhandledrejection', (event) => log(`rejected: ${event.reason?.message ?? event.reason}`));
  let options;
  try {
    options = optionsFrom(query);
    start(options);
  } catch (error) {
    post('/done', JSON.stringify({ format: 1, error: String(error) }));
  }
}
