// A square heat map on a canvas, read with the pointer, by touch or with the arrow keys.
import { canvasFor, colour, onRestyle } from './ui.js';

const MARGIN = 22; // for the letters along two sides
const LEGIBLE = 7; // pixels a square, below which the letters are left out

/** 256 colours from the page's three, as RGBA words. */
function ramp() {
  const stops = [0, 1, 2].map((i) => Number.parseInt(colour(`heat-${i}`).slice(1), 16));
  const channel = (hex, shift) => (hex >> shift) & 255;
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * 2;
    const from = Math.min(1, Math.floor(at));
    const mix = (shift) =>
      Math.round(channel(stops[from], shift) + (at - from) * (channel(stops[from + 1], shift) - channel(stops[from], shift)));
    return [mix(16), mix(8), mix(0)];
  });
}

/** The weights as a picture, one pixel each; the shade grows with the square root. */
export function picture(weights, n, top) {
  const colours = ramp();
  const image = new ImageData(n, n);
  for (let i = 0; i < n * n; i++) {
    const [r, g, b] = colours[Math.round(255 * Math.sqrt(Math.min(1, weights[i] / top)))];
    image.data.set([r, g, b, 255], 4 * i);
  }
  const canvas = Object.assign(document.createElement('canvas'), { width: n, height: n });
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

/** `onPoint(row, column)` tells which square is pointed at. */
export function heatmap(canvas, onPoint) {
  let data = null; // { weights, n, top, letters }
  let at = null;
  const margin = (width) => (data && (width - MARGIN) / data.n >= LEGIBLE ? MARGIN : 0);

  function draw() {
    const { g, width } = canvasFor(canvas);
    g.clearRect(0, 0, width, width);
    const o = margin(width);
    const size = width - o;
    g.fillStyle = colour('heat-0');
    g.fillRect(o, o, size, size);
    if (!data) return;
    const cell = size / data.n;
    g.imageSmoothingEnabled = false;
    g.drawImage(picture(data.weights, data.n, data.top), o, o, size, size);
    if (o) {
      g.font = `500 ${Math.min(14, Math.max(8, cell * 1.1))}px ${colour('mono')}`;
      g.textAlign = 'center';
      g.textBaseline = 'middle';
      for (let i = 0; i < data.n; i++) {
        const on = (v) => {
          g.fillStyle = colour(v ? 'madder' : 'muted');
        };
        on(at?.column === i);
        g.fillText(data.letters[i], o + (i + 0.5) * cell, o / 2);
        on(at?.row === i);
        g.fillText(data.letters[i], o / 2, o + (i + 0.5) * cell);
      }
    }
    if (at) {
      g.strokeStyle = colour('madder');
      g.lineWidth = 1;
      g.strokeRect(o, o + at.row * cell, size, cell);
      g.strokeRect(o + at.column * cell, o, cell, size);
      g.lineWidth = 2.5;
      g.strokeRect(o + at.column * cell, o + at.row * cell, cell, cell);
    }
  }

  function point(row, column) {
    if (!data) return;
    const clamp = (x) => Math.max(0, Math.min(data.n - 1, x));
    at = { row: clamp(row), column: clamp(column) };
    draw();
    onPoint(at.row, at.column);
  }

  const follow = (event) => {
    if (!data) return;
    const box = canvas.getBoundingClientRect();
    const o = margin(box.width);
    const cell = (box.width - o) / data.n;
    point(Math.floor((event.clientY - box.top - o) / cell), Math.floor((event.clientX - box.left - o) / cell));
  };
  canvas.addEventListener('pointermove', follow);
  canvas.addEventListener('pointerdown', follow);
  canvas.addEventListener('focus', () => {
    if (data && !at) point(data.n - 1, data.n - 1);
  });
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !data) return;
    event.preventDefault();
    point((at?.row ?? 0) + step[0], (at?.column ?? 0) + step[1]);
  });
  onRestyle(canvas, draw);

  return (next) => {
    if (at && next.n !== data?.n) at = null;
    data = next;
    draw();
    if (at) onPoint(at.row, at.column);
  };
}

export function drawLegend(canvas) {
  const redraw = () => {
    const colours = ramp();
    const g = canvas.getContext('2d');
    for (let x = 0; x < canvas.width; x++) {
      g.fillStyle = `rgb(${colours[Math.round((255 * x) / (canvas.width - 1))].join(' ')})`;
      g.fillRect(x, 0, 1, canvas.height);
    }
  };
  redraw();
  onRestyle(canvas, redraw);
}
