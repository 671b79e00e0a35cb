// Wires the page: the panels listen for the context, then the context is made.
import { attentionPanel } from './attention.js';
import { matmulPanel } from './matmul.js';
import { sentencePanel } from './sentences.js';
import { memory, open, release, say } from './session.js';
import { weavePanel } from './weave.js';

weavePanel();
matmulPanel();
attentionPanel();
sentencePanel();

const toggle = document.getElementById('context-toggle');
toggle.addEventListener('click', () => {
  if (document.getElementById('adapter').dataset.state === 'open') release();
  else open();
});

for (const button of document.querySelectorAll('[data-copy]')) {
  const label = button.firstChild;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      label.data = 'Copied';
      setTimeout(() => {
        label.data = 'Copy';
      }, 1600);
    } catch {
      say('The browser did not let the page copy; select the text and copy it by hand.');
    }
  });
}

setInterval(() => {
  if (document.visibilityState === 'visible') memory();
}, 1000);
open();
