// The attention panel: weights from mmBt, add and softmax, drawn; their output held against the fused kernel.
import { drawLegend, heatmap, picture } from './heatmap.js';
import { isOff, run, say } from './session.js';
import { choose, figure, filled, onRestyle, part, random, show, small, verdict } from './ui.js';

const TEXT =
  'the weft goes over the warp and under the warp and over again, row after row, until the threads have become one piece of cloth. ';
const OWN = 48; // numbers of a letter's vector that are its own
const SHARED = 16; // and those that all letters share: rotated by position, they make near ones alike
const WIDTH = OWN + SHARED;
const DH = 32; // of a head
const HEADS = [1, 2, 4, 8];
// How strongly each head weighs likeness and nearness.
const TASTE = [
  [1.2, 0.6],
  [1.5, 0],
  [0, 2.2],
  [0.8, 1.6],
  [1.1, 1.1],
  [2, 0.4],
  [0.5, 2.6],
  [0.9, 0.3],
];

export function attentionPanel() {
  const form = document.getElementById('attention-form');
  choose(document.getElementById('attention-heads'), 'heads', HEADS, 4);
  choose(document.getElementById('attention-length'), 'letters', [16, 32, 64, 128], 64);
  const thumbs = headButtons(() => view());
  const map = heatmap(document.getElementById('heatmap'), (row, column) => {
    const { n, letters } = last;
    const w = last.weights[thumbs.chosen()][row * n + column];
    show('attention-value', `${row} “${letters[row]}” asks ${column} “${letters[column]}”: ${w.toFixed(4)}`, w);
  });
  drawLegend(document.getElementById('heat-legend'));
  let last = null;

  function view() {
    if (!last) return;
    const head = thumbs.chosen();
    const weights = last.weights[head];
    const top = weights.reduce((a, b) => Math.max(a, b), 0);
    document.getElementById('heat-max').textContent = top.toFixed(2);
    map({ weights, n: last.n, top, letters: last.letters });
    const shown = `Attention weights of head ${head + 1}, ${last.n} by ${last.n} letters${last.causal ? ', causal' : ''}.`;
    document.getElementById('heatmap').setAttribute('aria-label', `${shown} Arrow keys move over the squares.`);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const heads = Number(form.elements.heads.value);
    const n = Number(form.elements.letters.value);
    const causal = form.elements.causal.checked;
    run(async (ctx) => {
      say(`Computing attention of ${heads} ${heads === 1 ? 'head' : 'heads'} over ${n} letters …`);
      const letters = Array.from(TEXT.repeat(2).slice(0, n));
      const r = await attend(ctx, letters, heads, causal);
      last = { ...r, n, causal, letters: letters.map((c) => (c === ' ' ? '·' : c)) };
      thumbs.draw(r.weights, n);
      if (part('attention-value').dataset.value === undefined) show('attention-value', 'Pick a square.');
      view();
      show('attention-maxdiff', small(r.difference), r.difference);
      show('attention-bound', `allowed ${small(r.bound)}`, r.bound);
      show('attention-time', figure(r.ms), r.ms);
      const agreeing = heads === 1 ? 'The head agrees' : `All ${heads} heads agree`;
      const fused = causal ? 'mhaCausal, one pass over every head' : 'attention, one fused pass a head';
      verdict(
        'attention-verdict',
        r.difference <= r.bound
          ? `${agreeing} with ${fused}. Largest row sum error: ${small(r.rowSum)}.`
          : 'The two ways differ by more than rounding allows. Please report this adapter.',
        r.difference <= r.bound,
      );
      return `Attention computed: ${heads} ${heads === 1 ? 'head' : 'heads'}, ${n} letters.`;
    });
  });
  form.querySelector('button').addEventListener('click', (event) => {
    if (isOff(event.currentTarget)) {
      event.preventDefault();
      run(() => {});
    }
  });
}

/** Both ways over the same queries, keys and values; every tensor is gone when it returns. */
async function attend(ctx, letters, heads, causal) {
  const n = letters.length;
  const start = performance.now();
  const kept = ctx.scope(() => {
    const alphabet = [...new Set(letters)];
    const x = ctx.tensor(letterVectors(alphabet.length), [alphabet.length, WIDTH]).gather0(letters.map((c) => alphabet.indexOf(c)));
    const project = (seed, gain) => x.mm(ctx.tensor(projection(heads, seed, gain), [WIDTH, heads * DH]));
    // The same projection makes queries and keys, so that like looks at like.
    const look = project(11, (h, d) => TASTE[h][d < OWN ? 0 : 1]).rope(heads);
    const v = project(13, () => 1);
    const mask =
      causal &&
      ctx.tensor(
        Float32Array.from({ length: n * n }, (_, i) => (i % n > Math.floor(i / n) ? -Infinity : 0)),
        [n, n],
      );

    const perHead = Array.from({ length: heads }, (_, h) => {
      // [n, heads·dh] holds n·heads rows of dh: those of one head lie `heads` apart.
      const rows = Array.from({ length: n }, (_, i) => i * heads + h);
      const slice = (t) => t.dup([n * heads, DH]).gather0(rows);
      const [qk, vh] = [slice(look), slice(v)];
      const scores = qk.mmBt(qk, 1 / Math.sqrt(DH));
      const weights = (mask ? scores.add(mask) : scores).softmax();
      const fused = causal ? null : qk.attention(qk, vh);
      return { weights, out: weights.mm(vh), fused };
    });
    return { perHead, v, all: causal ? look.mhaCausal(look, v, heads, heads) : null };
  });
  const { perHead, v, all } = kept;
  try {
    const read = (tensors) => Promise.all(tensors.map((t) => t.toArray()));
    const [weights, outs, fusedHeads, [values], [fusedAll]] = await Promise.all([
      read(perHead.map((p) => p.weights)),
      read(perHead.map((p) => p.out)),
      read(perHead.flatMap((p) => p.fused ?? [])),
      read([v]),
      read(all ? [all] : []),
    ]);
    const ms = performance.now() - start;
    let difference = 0;
    outs.forEach((out, h) => {
      for (let i = 0; i < n; i++)
        for (let d = 0; d < DH; d++) {
          const fused = fusedAll ? fusedAll[(i * heads + h) * DH + d] : fusedHeads[h][i * DH + d];
          const off = Math.abs(out[i * DH + d] - fused);
          difference = Math.max(difference, Number.isNaN(off) ? Infinity : off);
        }
    });
    let rowSum = 0;
    for (const w of weights)
      for (let i = 0; i < n; i++) {
        let sum = 0;
        for (let j = 0; j < n; j++) sum += w[i * n + j];
        rowSum = Math.max(rowSum, Math.abs(sum - 1));
      }
    // Each way may be off by 1e-5 of the largest value.
    return { weights, difference, bound: 2e-5 * values.reduce((m, x) => Math.max(m, Math.abs(x)), 0), rowSum, ms };
  } finally {
    for (const t of [...perHead.flatMap((p) => Object.values(p)), v, all]) t?.dispose();
  }
}

/** [count, WIDTH]: random in the letter's own part, the same for all in the shared part. */
function letterVectors(count) {
  const next = random(7);
  const shared = filled(SHARED, next);
  const own = filled(count * OWN, next);
  return Float32Array.from({ length: count * WIDTH }, (_, i) => {
    const [letter, d] = [Math.floor(i / WIDTH), i % WIDTH];
    return d < OWN ? own[letter * OWN + d] : shared[d - OWN];
  });
}

/** [WIDTH, heads·DH]: random, with a gain for each head and input. */
function projection(heads, seed, gain) {
  const next = random(seed);
  return Float32Array.from({ length: WIDTH * heads * DH }, (_, i) => {
    const [d, h] = [Math.floor(i / (heads * DH)), Math.floor((i % (heads * DH)) / DH)];
    return (3 / Math.sqrt(WIDTH)) * gain(h, d) * next();
  });
}

/** Eight small maps that choose the head on view; those a run lacks stay empty. */
function headButtons(onChoose) {
  const row = document.querySelector('#attention-head .heads-row');
  const cells = Array.from({ length: 8 }, (_, h) => {
    const label = document.createElement('label');
    const input = Object.assign(document.createElement('input'), {
      type: 'radio',
      name: 'head',
      value: String(h),
      checked: h === 0,
      disabled: h > 0,
    });
    input.dataset.testid = `attention-head-${h + 1}`;
    input.setAttribute('aria-label', `Head ${h + 1}`);
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
    label.append(input, canvas, String(h + 1));
    label.className = 'absent';
    row.append(label);
    return { label, input, canvas };
  });
  row.addEventListener('change', onChoose);
  let shown = null;
  const draw = (weights, n) => {
    shown = [weights, n];
    cells.forEach(({ label, input, canvas }, h) => {
      input.disabled = h >= weights.length;
      label.className = input.disabled ? 'absent' : '';
      canvas.width = canvas.height = n;
      if (!input.disabled)
        canvas.getContext('2d').drawImage(
          picture(
            weights[h],
            n,
            weights[h].reduce((a, b) => Math.max(a, b), 0),
          ),
          0,
          0,
        );
    });
    if (cells.find((c) => c.input.checked)?.input.disabled) cells[0].input.checked = true;
  };
  onRestyle(row, () => {
    if (shown) draw(...shown);
  });
  return { draw, chosen: () => cells.findIndex((c) => c.input.checked) };
}
