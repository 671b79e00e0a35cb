// Says of a committed run which bars it meets, draws its plots, and writes the README's table: `npm run bench:report`.
// With --check only compares the README's table with the committed run, and fails where they differ.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from '../bench/src/bars.js';
import { curves, figure, markdown } from '../bench/src/report.js';
import { setup } from './setup.mjs';
import { main, root } from './shell.mjs';

const results = join(root, 'bench', 'results');
const readme = join(root, 'README.md');
const MARKS = ['<!-- speed: made by npm run bench:report -->', '<!-- end of speed -->'];

const read = (name) => {
  const path = join(results, name);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
};

/** The README with the table of `run` between its marks. */
export function withTable(text, run) {
  const [from, to] = MARKS.map((mark) => text.indexOf(mark));
  if (from < 0 || to < from) throw new Error(`README.md needs the lines ${MARKS.join(' and ')}`);
  return `${text.slice(0, from + MARKS[0].length)}\n${markdown(run)}\n${text.slice(to)}`;
}

/** Each plot as an SVG of its own, which follows the viewer's colour scheme. */
async function drawAll(run) {
  await setup(['bench']);
  const { parseHTML } = await import('../bench/node_modules/linkedom/esm/index.js');
  const { draw } = await import('../bench/src/plots.js');
  const { document } = parseHTML('<html><body></body></html>');
  const css = readFileSync(join(root, 'bench', 'src', 'style.css'), 'utf8');
  const colours = [...css.matchAll(/--(ours|ort|tfjs|jax|burn|ferric|ink): (#\w+)/g)].map(([, name, value]) => `--${name}:${value}`);
  const [light, dark] = [colours.slice(0, colours.length / 2), colours.slice(colours.length / 2)].map(
    (list) => `svg{${list.join(';')};color:var(--ink);font-family:sans-serif}`,
  );
  for (const curve of curves(run)) {
    const svg = draw(curve, { document, width: 640 });
    svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    const style = document.createElement('style');
    style.textContent = `${light}@media (prefers-color-scheme:dark){${dark}}`;
    svg.prepend(style);
    writeFileSync(join(results, `${curve.name}.svg`), `${svg.outerHTML}\n`);
    console.log(`bench: wrote bench/results/${curve.name}.svg`);
  }
}

await main('bench', async () => {
  const [run, native] = [read('browser.json'), read('native.json')];
  const text = readFileSync(readme, 'utf8');
  const wanted = withTable(text, run);
  if (process.argv.includes('--check')) {
    if (wanted !== text) throw new Error("README.md's table of speeds is not that of bench/results/browser.json: npm run bench:report");
    return;
  }
  if (!run) throw new Error('no run yet: npm run bench -- --run bench/results/browser.json');
  const sign = (ok) => (ok === undefined ? '?' : ok ? '✓' : '✗');
  for (const { what, must, ok, parts } of judge(run, native)) {
    console.log(`${sign(ok)} ${what}: ${must}`);
    for (const part of parts)
      console.log(`    ${sign(part.ok)} ${part.row}: ${figure(part.value)} ${part.label}, ${figure(part.need)} asked`);
  }
  await drawAll(run);
  writeFileSync(readme, wanted);
});
