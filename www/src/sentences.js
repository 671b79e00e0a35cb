// The model panel: loads MiniLM when asked, embeds two sentences and shows the angle between them.
import { drawAngle } from './angle.js';
import { PageError } from './failures.js';
import { enable, fail, isOff, onContext, run, say } from './session.js';
import { breathe, bytes, figure, part, show, verdict } from './ui.js';

const BASE = new URL('models/minilm/', document.baseURI).href;
const WORDS = [
  [0.8, 'nearly the same meaning'],
  [0.5, 'closely related'],
  [0.25, 'loosely related'],
  [-1, 'not related'],
];

export function sentencePanel() {
  const form = document.getElementById('minilm-form');
  const load = document.getElementById('minilm-load');
  const cancel = document.getElementById('minilm-cancel');
  const progress = document.getElementById('minilm-progress');
  const compare = part('minilm-run');
  let model = null;
  let download = null;
  drawAngle(document.getElementById('angle'));
  enable(compare, false);

  onContext((ctx) => {
    if (!model) return;
    model = null; // its weights lived on the context before
    progress.value = 0;
    show('minilm-state', ctx ? 'Not loaded on this context.' : 'Its weights went with the context.');
    enable(compare, false);
    enable(load, true);
  });

  load.addEventListener('click', () =>
    run(async (ctx) => {
      if (model) return 'The model is loaded.';
      download = new AbortController();
      cancel.hidden = false;
      try {
        say('Loading MiniLM-L6 …');
        await present(download.signal);
        const { loadMiniLM } = await import('./minilm.js');
        model = await loadMiniLM(ctx, { base: BASE, signal: download.signal, onProgress });
        progress.value = 1;
        show('minilm-state', 'Loaded: 6 layers, 384 wide, 22.7 million weights on your GPU.', true);
        enable(compare, true);
        enable(load, false);
        return 'The model is loaded.';
      } catch (error) {
        progress.value = 0;
        show('minilm-state', 'Not loaded.');
        if (typeof error.code !== 'string' && error.name !== 'AbortError') throw new PageError('download', error.message);
        throw error;
      } finally {
        cancel.hidden = true;
      }
    }),
  );
  cancel.addEventListener('click', () => {
    download?.abort();
    load.focus();
  });

  function onProgress(loaded, total) {
    if (total) progress.value = loaded / total;
    else progress.removeAttribute('value');
    show('minilm-state', total ? `${bytes(loaded)} of ${bytes(total)}` : bytes(loaded), undefined);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const [a, b] = [form.elements.a.value.trim(), form.elements.b.value.trim()];
    if (!isOff(compare) && !(a && b)) return fail(new PageError('no-sentence'));
    run(async () => {
      say('Embedding two sentences …');
      await breathe();
      const start = performance.now();
      const [ea, eb] = [await model.embed(a), await model.embed(b)];
      const ms = (performance.now() - start) / 2;
      const cosine = ea.reduce((sum, x, i) => sum + x * eb[i], 0);
      show('minilm-cosine', cosine.toFixed(3).replace('-', '−'), cosine);
      show('minilm-time', figure(ms), ms);
      drawAngle(document.getElementById('angle'), cosine);
      const degrees = (Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI;
      verdict('minilm-verdict', `The two point ${degrees.toFixed(0)}° apart: ${WORDS.find(([least]) => cosine >= least)[1]}.`);
      return `Compared: cosine ${cosine.toFixed(3)}.`;
    });
  });
  compare.addEventListener('click', (event) => {
    if (isOff(compare)) {
      event.preventDefault();
      run(() => {});
    }
  });
}

/** Fails with its own sentence when the files were never fetched. */
async function present(signal) {
  const answer = await fetch(`${BASE}tokenizer.json`, { method: 'HEAD', signal });
  if (!answer.ok || answer.headers.get('content-type')?.includes('html'))
    throw new PageError('model-missing', `${BASE}tokenizer.json: ${answer.status}`);
}
