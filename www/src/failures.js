// Every way this page can fail, as a sentence that says what to do.

/** A failure that has no TensorError code of its own. */
export class PageError extends Error {
  constructor(code, message = code) {
    super(message);
    this.name = 'PageError';
    this.code = code;
  }
}

const RETRY = 'Try again';
const RENEW = 'Make a new context';

// code: [headline, what to do, label of the button that makes a context again]
const SENTENCES = {
  insecure: [
    'This page is not secure, so the browser hides WebGPU.',
    'Open it over https, or from http://localhost on the machine that serves it.',
  ],
  'no-webgpu': [
    'This browser has no WebGPU.',
    'Open the page in a current Chrome, Edge or Safari, or in Firefox with dom.webgpu.enabled set to true in about:config.',
  ],
  'no-adapter': [
    'WebGPU is here, but it offers no adapter.',
    'Turn on hardware acceleration in the browser’s settings, or update the graphics driver, and try again.',
    RETRY,
  ],
  'wasm-load': [
    'The WebAssembly module did not load.',
    'Check the connection, and that the server delivers the .wasm file of the package, then try again.',
    RETRY,
  ],
  'device-lost': [
    'The GPU device was lost, and its tensors with it.',
    'Make a new context, then run the panel again. If it keeps happening, choose a smaller size or update the graphics driver.',
    RENEW,
  ],
  released: ['The context is released, and its memory with it.', 'Make a new context to go on.', RENEW],
  disposed: ['The context was released while it was at work.', 'Make a new context, then run the panel again.', RENEW],
  'out-of-memory': ['The GPU is out of memory.', 'Choose a smaller size, or close other pages that use the GPU, then run it again.'],
  'limit-exceeded': ['That is beyond a limit of this adapter.', 'Choose a smaller size.'],
  'model-missing': [
    'The model’s files are not on this server.',
    'Run “node scripts/fetch-models.mjs --only minilm” in the repository, then load the model again.',
  ],
  download: ['The download of the model broke off.', 'Check the connection, then load the model again.'],
  'no-sentence': ['A field is empty.', 'Write a sentence in each of the two, then compare again.'],
};

/** { code, headline, advice, renew?, detail } of anything that was thrown. */
export function explain(error) {
  const code = typeof error?.code === 'string' ? error.code : 'internal'; // a DOMException's is a number
  const [headline, advice, renew] = SENTENCES[code] ?? [
    'Something failed that should not have.',
    'Reload the page; if it happens again, please report it with the detail below.',
  ];
  const message = error?.message ?? String(error);
  return { code, headline, advice, renew, detail: message === code ? '' : message };
}
