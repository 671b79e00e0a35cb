// Small helpers for the panels: finding elements, writing numbers, choosing from a row of values, letting the page breathe.

/** The element with this data-testid. */
export const part = (id) => document.querySelector(`[data-testid='${id}']`);

/** Writes what a reader sees and, for programs, the full number beside it. */
export function show(id, text, value) {
  const el = part(id);
  el.textContent = text;
  if (value === undefined) delete el.dataset.value;
  else el.dataset.value = String(value);
}

/** Writes a sentence with a tick, a cross or neither before it. */
export function verdict(id, text, ok) {
  const el = part(id);
  el.textContent = text;
  if (ok === undefined) delete el.dataset.ok;
  else el.dataset.ok = String(ok);
}

/** Three significant digits at most, without an exponent. */
export const figure = (x) => (x >= 99.95 ? Math.round(x).toLocaleString('en') : x >= 9.995 ? x.toFixed(1) : x.toFixed(2));

/** 0.0000123 as 1.23e-5: errors are read by their exponent. */
export const small = (x) => (x === 0 ? '0' : x >= 0.01 ? x.toPrecision(3) : x.toExponential(1));

export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const u = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log2(n) / 10));
  return `${u === 0 ? n : (n / 1024 ** u).toFixed(n / 1024 ** u < 100 ? 1 : 0)} ${units[u]}`;
}

/** Lets the browser paint and answer input before the next stretch of work. */
export const breathe = () => new Promise((done) => setTimeout(done));

/** Fills a fieldset with one radio button a value. */
export function choose(fieldset, name, values, chosen) {
  for (const value of values) {
    const label = document.createElement('label');
    const input = Object.assign(document.createElement('input'), { type: 'radio', name, value: String(value), checked: value === chosen });
    input.dataset.testid = `${fieldset.id}-${value}`;
    const face = document.createElement('span');
    face.textContent = String(value);
    label.append(input, face);
    fieldset.append(label);
  }
}

/** An SVG element with its attributes. */
export function svg(name, attributes = {}, text) {
  const el = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, String(value));
  if (text !== undefined) el.textContent = text;
  return el;
}

/** The current value of a colour of style.css. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Calls back when the page turns from light to dark or back, and at most once a frame when an element changes its size. */
export function onRestyle(element, redraw) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  let width = 0;
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width === width) return;
    width = entry.contentRect.width;
    requestAnimationFrame(redraw);
  }).observe(element);
}

/** Sizes a canvas to its box in device pixels; the context draws in CSS pixels. */
export function canvasFor(element) {
  const { width, height } = element.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  element.width = Math.round(width * ratio);
  element.height = Math.round(height * ratio);
  const g = element.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { g, width, height };
}

/** A small seeded generator (mulberry32) of numbers in [-1, 1): the same input on every visit. */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

export const filled = (length, next) => Float32Array.from({ length }, next);
