// The page: runs the measurements and shows them. With `?post` it starts by itself and posts what it finds to /log and /done.
import { watchDevices } from './gpu.js';
import { optionsFrom, runAll } from './run.js';

const query = new URLSearchParams(location.search);
const posting = query.has('post');

function log(text) {
  document.querySelector('#log').textContent += `${text}\n`;
  if (posting) fetch('/log', { method: 'POST', body: text }).catch(() => {});
}

async function start() {
  let result;
  try {
    watchDevices();
    result = await runAll(optionsFrom(query), log);
  } catch (error) {
    result = { format: 1, error: String(error?.stack ?? error) };
    log(result.error);
  }
  if (posting) await fetch('/done', { method: 'POST', body: JSON.stringify(result) });
}
addEventListener('error', (event) => log(`error: ${event.message}`));
addEventListener('unhandledrejection', (event) => log(`rejected: ${event.reason?.message ?? event.reason}`));
start();
