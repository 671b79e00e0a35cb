// The bar chart of the product panel: two bars for every size. Rows without a result are kept free, so that the page does not move.
import { figure, svg } from './ui.js';

const ROW = 74;
const BAR = 16;
const LONGEST = 72; // per cent of the width; the rest is for the number

/** `results` maps sizes to { gpu, js } in GFLOP/s; sizes that have not run are missing. */
export function drawBars(root, sizes, results) {
  const top = Math.max(1e-9, ...[...results.values()].flatMap((r) => [r.gpu, r.js]));
  root.replaceChildren();
  root.setAttribute('height', sizes.length * ROW - 18);
  sizes.forEach((n, row) => {
    const y = row * ROW;
    const result = results.get(n);
    root.append(svg('text', { class: result ? 'size' : 'size quiet', x: 0, y: y + 13 }, `${n} × ${n}`));
    if (!result) {
      root.append(svg('line', { class: 'slot', x1: 0, x2: '100%', y1: y + 38, y2: y + 38, 'stroke-dasharray': '8 8' }));
      return;
    }
    bar(root, 'gpu', 'GPU', result.gpu, top, y + 20);
    bar(root, 'js', 'JS', result.js, top, y + 20 + BAR + 3);
  });
  const said = [...results].map(([n, r]) => `${n} by ${n}: GPU ${figure(r.gpu)}, JavaScript ${figure(r.js)} GFLOP/s`);
  root.setAttribute('aria-label', said.length ? `Bar chart. ${said.join('. ')}.` : 'Bar chart, empty until a product has run.');
}

function bar(root, kind, name, value, top, y) {
  const width = (LONGEST * value) / top;
  root.append(svg('rect', { class: kind, x: 0, y, width: `${Math.max(0.4, width)}%`, height: BAR, rx: 1 }));
  const end = svg('svg', { x: `${width}%`, y, overflow: 'visible' });
  end.append(svg('text', { x: 10, y: BAR - 3 }, `${figure(value)} ${name}`));
  root.append(end);
}
