// The gauge of the sentence panel: two directions and the angle between them, whose cosine is the answer.
import { svg } from './ui.js';

const R = 136;
const at = (degrees, radius) => {
  const a = (degrees * Math.PI) / 180;
  return [Math.cos(a) * radius, -Math.sin(a) * radius].map((x) => x.toFixed(2));
};

export function drawAngle(root, cosine) {
  root.replaceChildren();
  const degrees = cosine === undefined ? 90 : (Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI;
  const known = cosine !== undefined;
  const [bx, by] = at(degrees, R);
  if (known) root.append(svg('path', { class: 'span', d: `M0 0H${R}A${R} ${R} 0 0 0 ${bx} ${by}Z` }));
  root.append(svg('path', { class: 'arc', d: `M${R} 0A${R} ${R} 0 0 0 ${-R} 0` }));
  for (const c of [1, 0.75, 0.5, 0.25, 0, -0.25, -0.5, -0.75, -1]) {
    const d = (Math.acos(c) * 180) / Math.PI;
    const [x1, y1] = at(d, R - 4),
      [x2, y2] = at(d, R + 4);
    root.append(svg('line', { class: 'tick', x1, y1, x2, y2 }));
    if (c % 0.5 !== 0) continue;
    const [x, y] = at(d, R + 17);
    root.append(svg('text', { x, y: Number(y) + 4.5, 'text-anchor': 'middle' }, String(c).replace('-', '−')));
  }
  root.append(svg('line', { class: 'ray a', x1: 0, y1: 0, x2: R - 22, y2: 0, opacity: known ? 1 : 0.25 }));
  const [rx, ry] = at(degrees, R - 22);
  root.append(svg('line', { class: 'ray b', x1: 0, y1: 0, x2: rx, y2: ry, opacity: known ? 1 : 0.25 }));
  root.append(svg('text', { class: 'name name-a', x: R - 22, y: 22, 'text-anchor': 'end' }, 'first'));
  if (known) {
    const [tx, ty] = at(degrees, R - 40);
    const left = degrees > 90;
    root.append(
      svg(
        'text',
        { class: 'name name-b', x: Number(tx) + (left ? 12 : -12), y: Number(ty) - (left ? 6 : 6), 'text-anchor': left ? 'start' : 'end' },
        'second',
      ),
    );
  }
  root.setAttribute(
    'aria-label',
    known ? `Two directions ${degrees.toFixed(0)} degrees apart; their cosine is ${cosine.toFixed(3)}.` : 'No comparison yet.',
  );
}
