// The cloth in the header: a loom's drawdown is the product treadling · tie-up · threading, so the GPU weaves it.
import { isOff, onContext, run, say } from './session.js';
import { canvasFor, colour, onRestyle } from './ui.js';

const ENDS = 72;
const PICKS = 49;
const SHAFTS = 8;
const CELLS_X = ENDS + 1 + SHAFTS;

const wave = (length, turns, swing, slope) =>
  Array.from(
    { length },
    (_, i) => ((Math.round(slope * i + swing * Math.sin((2 * Math.PI * turns * i) / length)) % SHAFTS) + SHAFTS) % SHAFTS,
  );
const point = (length, half) =>
  Array.from({ length }, (_, i) => {
    const at = i % (2 * half);
    return (at < half ? at : 2 * half - at) % SHAFTS;
  });

// Which shaft each warp end hangs on, which shafts a treadle lifts (a twill shifted by one each time), which treadle each pick uses.
const DRAFTS = [
  { name: 'an undulating twill', lift: '11100100', threading: wave(ENDS, 2, 9, 0.5), treadling: wave(PICKS, 1, -7, 1) },
  { name: 'a diamond twill', lift: '11011000', threading: point(ENDS, 18), treadling: point(PICKS, 12) },
  { name: 'an advancing point twill', lift: '11101000', threading: wave(ENDS, 3, 11, 0), treadling: wave(PICKS, 2, 10, 0) },
  { name: 'a plain 2/2 twill', lift: '11001100', threading: wave(ENDS, 0, 0, 1), treadling: wave(PICKS, 0, 0, 1) },
];

/** Row i has its one at column ones[i]. */
function oneHot(ones, width) {
  const rows = new Float32Array(ones.length * width);
  ones.forEach((at, i) => {
    rows[i * width + at] = 1;
  });
  return rows;
}

const lifts = (draft, treadle, shaft) => draft.lift[(shaft - treadle + SHAFTS) % SHAFTS] === '1';

/** The two products, on the GPU. */
async function cloth(ctx, draft) {
  const tieUp = Float32Array.from({ length: SHAFTS * SHAFTS }, (_, i) => Number(lifts(draft, Math.floor(i / SHAFTS), i % SHAFTS)));
  const woven = ctx.scope(() => {
    const treadling = ctx.tensor(oneHot(draft.treadling, SHAFTS), [PICKS, SHAFTS]);
    const tied = ctx.tensor(tieUp, [SHAFTS, SHAFTS]);
    const threading = ctx.tensor(oneHot(draft.threading, SHAFTS), [ENDS, SHAFTS]);
    return treadling.mm(tied).mmBt(threading);
  });
  try {
    return await woven.toArray();
  } finally {
    woven.dispose();
  }
}

export function weavePanel() {
  const canvas = document.getElementById('weave');
  const button = document.getElementById('weave-run');
  let turn = 0;
  let woven = null;
  let shown = 0; // picks on view
  let warm = false;
  const redraw = () => draw(canvas, DRAFTS[turn], woven, shown);
  onRestyle(canvas, redraw);

  const weave = () =>
    run(async (ctx) => {
      const draft = DRAFTS[turn];
      woven = null;
      say('Weaving …');
      const start = performance.now();
      woven = await cloth(ctx, draft);
      const ms = performance.now() - start;
      const took = warm ? `${ms.toFixed(0)} ms, there and back` : `${(ms / 1000).toFixed(1)} s, compiling its kernels first`;
      warm = true;
      const caption = document.getElementById('weave-caption');
      caption.textContent =
        'The cloth of a loom is two matrix products, treadling · tie-up · threading. ' +
        `Your GPU has just computed this one, ${draft.name} of ${ENDS} by ${PICKS} threads, in ${took}.`;
      caption.dataset.value = String(woven.reduce((sum, x) => sum + x, 0));
      canvas.setAttribute(
        'aria-label',
        `A weaving draft: threading above, tie-up in the corner, treadling at the right, and the cloth they make, ${draft.name}.`,
      );
      grow();
      return 'Ready.';
    });

  function grow() {
    shown = matchMedia('(prefers-reduced-motion: reduce)').matches ? PICKS : 0;
    const mine = woven;
    const step = () => {
      if (woven !== mine) return;
      shown = Math.min(PICKS, shown + 1);
      redraw();
      if (shown < PICKS) requestAnimationFrame(step);
    };
    step();
  }

  onContext((ctx) => {
    warm = false;
    if (ctx) queueMicrotask(weave);
  });
  button.addEventListener('click', () => {
    if (!isOff(button)) turn = (turn + 1) % DRAFTS.length;
    weave();
  });
}

function draw(canvas, draft, woven, shown) {
  const { g, width } = canvasFor(canvas);
  const cell = width / CELLS_X;
  const mark = (x, y) => g.fillRect(x * cell + cell * 0.1, y * cell + cell * 0.1, cell * 0.8, cell * 0.8);
  const grid = (x, y, w, h) => {
    g.beginPath();
    for (let i = 0; i <= w; i++) {
      g.moveTo((x + i) * cell, y * cell);
      g.lineTo((x + i) * cell, (y + h) * cell);
    }
    for (let i = 0; i <= h; i++) {
      g.moveTo(x * cell, (y + i) * cell);
      g.lineTo((x + w) * cell, (y + i) * cell);
    }
    g.stroke();
  };
  g.clearRect(0, 0, width, width);
  g.strokeStyle = colour('draft');
  g.lineWidth = 0.75;
  const right = ENDS + 1;
  const below = SHAFTS + 1;
  grid(0, 0, ENDS, SHAFTS);
  grid(right, 0, SHAFTS, SHAFTS);
  grid(right, below, SHAFTS, PICKS);

  g.fillStyle = colour('madder');
  draft.threading.forEach((shaft, end) => mark(end, SHAFTS - 1 - shaft));
  draft.treadling.forEach((treadle, pick) => mark(right + treadle, below + pick));
  g.fillStyle = colour('ink');
  for (let t = 0; t < SHAFTS; t++) for (let s = 0; s < SHAFTS; s++) if (lifts(draft, t, s)) mark(right + t, SHAFTS - 1 - s);

  // The warp hangs unwoven below the last pick on view.
  const warp = colour('warp');
  const weft = colour('linen');
  const shade = colour('linen-shade');
  g.fillStyle = warp;
  for (let end = 0; end < ENDS; end++) g.fillRect((end + 0.16) * cell, below * cell, cell * 0.68, PICKS * cell);
  if (!woven) return;
  for (let pick = 0; pick < shown; pick++) {
    const y = (below + pick) * cell;
    g.fillStyle = weft;
    g.fillRect(0, y, ENDS * cell, cell);
    g.fillStyle = shade;
    g.fillRect(0, y + cell * 0.86, ENDS * cell, cell * 0.14);
    g.fillStyle = warp;
    for (let end = 0; end < ENDS; end++) {
      if (woven[pick * ENDS + end] === 1) g.fillRect((end + 0.09) * cell, y, cell * 0.82, cell);
    }
  }
}
