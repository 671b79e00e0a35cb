// The plots of a run: milliseconds against size, ours and the peers.
import * as Plot from '@observablehq/plot';
import { figure, labelOf } from './report.js';

const SYMBOLS = { ours: 'circle', ort: 'square', tfjs: 'triangle', jax: 'diamond', burn: 'square', ferric: 'triangle' };

/** One plot as SVG. Colours are the CSS variables --ours, --ort and so on. */
export function draw({ title, x, points }, { width = 460, document } = {}) {
  const found = [...new Set(points.map(({ library }) => library))];
  const last = found.map((library) => points.findLast((point) => point.library === library));
  // Labels at the ends of the lines, moved apart where they would meet.
  const high = Math.max(...points.map(({ ms }) => ms));
  const low = Math.min(...points.map(({ ms }) => ms));
  const gap = (high / low) ** 0.06;
  last.sort((a, b) => a.ms - b.ms).forEach((point, i) => (point.at = Math.max(point.ms, i ? last[i - 1].at * gap : 0)));
  // Tens are labelled; between few of them twos and fives as well.
  const labelled = Math.log10(high / low) < 1.5 ? /^[125]0*$/ : /^10*$/;
  const tickFormat = (v) => (labelled.test(String(Math.round(v * 1e6))) ? String(v) : '');
  const colour = ({ library }) => `var(--${library})`;
  return Plot.plot({
    document,
    width,
    height: Math.round(width * 0.68),
    marginLeft: 52,
    marginRight: 138,
    marginBottom: 40,
    ariaLabel: `${title}: milliseconds against ${x}`,
    style: { background: 'transparent', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
    x: { type: 'log', base: 2, label: `${x} →`, tickFormat: (v) => (v >= 1024 && v % 1024 === 0 ? `${v / 1024}k` : String(v)), ticks: Math.min(6, new Set(points.map((p) => p.x)).size) },
    y: { type: 'log', label: '↑ ms', grid: true, tickFormat },
    symbol: { domain: found, range: found.map((library) => SYMBOLS[library] ?? 'circle') },
    marks: [
      ...found.map((library) => Plot.line(points.filter((p) => p.library === library), { x: 'x', y: 'ms', stroke: `var(--${library})`, strokeWidth: library === 'ours' ? 2.5 : 1.5 })),
      ...found.map((library) => Plot.dot(points.filter((p) => p.library === library), { x: 'x', y: 'ms', symbol: SYMBOLS[library] ?? 'circle', fill: `var(--${library})`, r: 3.5, title: (p) => `${labelOf(library)}: ${figure(p.ms)} ms at ${p.x}` })),
      ...last.map((point) => Plot.text([point], { x: 'x', y: 'at', text: () => labelOf(point.library), fill: colour(point), textAnchor: 'start', dx: 9, fontWeight: point.library === 'ours' ? 700 : 500 })),
    ],
  });
}
