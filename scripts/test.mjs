// Runs the tests, step by step, each with a time limit, and sums them up: `npm test`, or `node scripts/test.mjs STEP…`.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { checkMsrv } from './msrv.mjs';
import { setup, tool } from './setup.mjs';
import { main, root, run } from './shell.mjs';

const WASM = 'wasm32-unknown-unknown';
const cargo = (args, options) => () => run('cargo', args, options);
const node = (args, options) => () => run(process.execPath, args, options);
const biome = join('node_modules', '@biomejs', 'biome', 'bin', 'biome');
const tsc = (project) => node([join('node_modules', 'typescript-7', 'bin', 'tsc'), '-p', project], { limit: 120 });

/** `node --test` on the test files of a folder, one file after another: they share one GPU and two cores. */
const nodeTests =
  (folder, limit, suffix = '.test.mjs') =>
  () => {
    const files = readdirSync(join(root, 'tests', folder)).filter((name) => name.endsWith(suffix));
    const args = [
      '--test',
      '--test-force-exit',
      '--test-reporter=spec',
      '--test-concurrency=1',
      ...files.map((name) => join('tests', folder, name)),
    ];
    return run(process.execPath, args, { limit, env: { FORCE_COLOR: '0' } });
  };

/** The Rust tests in a browser. The runner chooses the browser by the driver in its environment, so only one may be there. */
const rustInBrowser = (name) => () => {
  const driver = name === 'chrome' ? { CHROMEDRIVER: tool.chromedriver() } : { GECKODRIVER: tool.geckodriver() };
  const env = {
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: tool.bindgenRunner(),
    ...driver,
  };
  return run('cargo', ['test', '--locked', '--target', WASM, '--test', 'integration'], { env, limit: 1800 });
};

/** `targets` are what to check: for wasm32 the library and its tests alone, since the examples read files. */
const clippy = (...targets) => cargo(['clippy', '--locked', '--quiet', ...targets, '--', '-D', 'warnings']);

// The steps in their order. `needs`: parts of the setup; `after`: a step that must have passed; `counts`: it prints how many tests it
// ran; `group`: a name for several steps; `extra`: runs only if it, or `all`, is asked for.
const steps = {
  fmt: { what: 'formatting', group: 'check', needs: ['lint'], run: cargo(['fmt', '--check'], { limit: 60 }) },
  clippy: { what: 'clippy, native', group: 'check', needs: ['lint'], run: clippy('--all-targets') },
  clippyWasm: {
    what: 'clippy, wasm32',
    group: 'check',
    needs: ['lint', 'target'],
    run: clippy('--lib', '--test', 'integration', '--target', WASM),
  },
  msrv: { what: 'the oldest Rust', group: 'check', run: checkMsrv },
  doc: {
    what: 'documentation',
    group: 'check',
    run: cargo(['doc', '--locked', '--no-deps', '--quiet'], { env: { RUSTDOCFLAGS: '-Dwarnings' } }),
  },
  lint: { what: 'JavaScript, style', group: 'check', needs: ['modules'], run: node([biome, 'ci', '--error-on-warnings'], { limit: 60 }) },
  types: { what: 'the published types', group: 'check', needs: ['modules'], run: tsc('tsconfig.json') },
  facadeTypes: {
    what: 'the facade against its published types',
    group: 'check',
    needs: ['modules'],
    run: tsc(join('js', 'tsconfig.json')),
  },
  api: {
    what: 'the API page',
    group: 'check',
    needs: ['modules'],
    run: node([join('node_modules', 'typedoc', 'bin', 'typedoc')], { limit: 120 }),
  },
  speed: {
    what: "the README's table of speeds",
    group: 'check',
    run: node([join('scripts', 'bench-report.mjs'), '--check'], { limit: 60 }),
  },
  native: {
    what: 'Rust tests, native',
    needs: ['vulkan'],
    counts: true,
    run: cargo(['test', '--locked', '--', '--show-output'], { limit: 1800 }),
  },
  build: {
    what: 'npm package',
    needs: ['modules', 'target', 'bindgen'],
    run: () =>
      build().then(
        () => ({ ok: true, output: '' }),
        (error) => ({ ok: false, output: '', why: error.message }),
      ),
  },
  chrome: {
    what: 'Rust tests, Chromium',
    needs: ['target', 'bindgen', 'chromium', 'chromedriver'],
    counts: true,
    run: rustInBrowser('chrome'),
  },
  firefox: {
    what: 'Rust tests, Firefox',
    needs: ['target', 'bindgen', 'firefox', 'geckodriver', 'vulkan'],
    counts: true,
    run: rustInBrowser('firefox'),
  },
  adapters: {
    what: 'adapters of the browsers',
    after: 'build',
    needs: ['modules', 'chromium', 'firefox', 'geckodriver', 'vulkan'],
    run: node([join('scripts', 'adapters.mjs')], { limit: 180 }),
  },
  package: {
    what: 'the npm package',
    after: 'build',
    needs: ['modules', 'chromium', 'vulkan'],
    counts: true,
    run: nodeTests('package', 1500),
  },
  facade: {
    what: 'the JavaScript facade',
    after: 'build',
    needs: ['modules', 'chromium', 'firefox', 'geckodriver', 'vulkan'],
    counts: true,
    run: nodeTests('facade', 1500),
  },
  page: {
    what: 'the demo page',
    after: 'build',
    needs: ['modules', 'demo', 'chromium', 'firefox', 'geckodriver', 'vulkan'],
    counts: true,
    run: nodeTests('page', 900),
  },
  bench: {
    what: 'the benchmark page',
    after: 'build',
    needs: ['modules', 'bench', 'chromium'],
    counts: true,
    run: nodeTests('bench', 600),
  },
  models: {
    what: 'the example models',
    extra: true,
    after: 'build',
    needs: ['modules', 'demo', 'pip', 'chromium', 'firefox', 'geckodriver', 'vulkan'],
    counts: true,
    run: testModels,
  },
};

/** Fetches the weights, runs the models natively, then MiniLM in the browsers. */
async function testModels() {
  let output = '';
  for (const part of [
    () => run(process.execPath, [join('scripts', 'fetch-models.mjs')], { limit: 900 }),
    cargo(['test', '--locked', '--test', 'models', '--', '--show-output'], { limit: 1800 }),
    nodeTests('models', 900, '.browser.mjs'),
  ]) {
    const result = await part();
    output += `${result.output}\n`;
    if (!result.ok) return { ...result, output };
  }
  return { ok: true, output };
}

const sum = (output, pattern) => [...output.matchAll(pattern)].reduce((total, [, n]) => total + Number(n), 0);

/** How many tests a step ran, from what `cargo test` and `node --test` print. */
function tally(output) {
  return {
    passed: sum(output, /^test result: .*?(\d+) passed/gm) + sum(output, /^ℹ pass (\d+)$/gm),
    failed: sum(output, /^test result: .*?(\d+) failed/gm) + sum(output, /^ℹ (?:fail|cancelled) (\d+)$/gm),
  };
}

/** Runs one step. Never throws: what goes wrong is its result. */
async function perform(step, results) {
  const broken = step.after && results.get(step.after)?.ok === false;
  if (broken) return { ok: false, output: '', why: `needs the step '${step.after}', which failed` };
  try {
    await setup(step.needs ?? []);
    return await step.run();
  } catch (error) {
    return { ok: false, output: '', why: error.message };
  }
}

function select(names) {
  if (!names.length) return Object.keys(steps).filter((name) => !steps[name].extra);
  if (names.includes('all')) return Object.keys(steps);
  const chosen = new Set(
    names.flatMap((name) => {
      const found = Object.keys(steps).filter((step) => step === name || steps[step].group === name);
      if (!found.length) throw new Error(`no step '${name}'. Steps: check, ${Object.keys(steps).join(', ')}, all`);
      return found;
    }),
  );
  // A step that needs the built package adds the build, unless dist/ is there.
  if ([...chosen].some((name) => steps[name].after === 'build') && !existsSync(join(root, 'dist'))) chosen.add('build');
  return Object.keys(steps).filter((name) => chosen.has(name));
}

const time = (ms) => `${Math.floor(ms / 60000)}:${String(Math.round(ms / 1000) % 60).padStart(2, '0')}`;

await main('test', async () => {
  const results = new Map();
  const started = Date.now();
  for (const name of select(process.argv.slice(2))) {
    const step = steps[name];
    console.log(`\n=== ${step.what} (${name})`);
    const begun = Date.now();
    const { ok, output, why, note } = await perform(step, results);
    const { passed, failed } = step.counts ? tally(output) : { passed: ok ? 1 : 0, failed: 0 };
    // A step that succeeds without having run a test counts as failed.
    const reason = why ?? (failed ? `${failed} failed` : passed === 0 ? 'ran no tests' : undefined);
    results.set(name, { ok: !reason, passed, failed: reason ? Math.max(failed, 1) : 0, reason, note, output, ms: Date.now() - begun });
    console.log(`=== ${name}: ${reason ?? 'ok'} (${time(Date.now() - begun)})`);
  }

  console.log('\n=== summary');
  const lines = [...results].flatMap(([, { output }]) => output.match(/^(?:adapter: |tests run on ).*$/gm) ?? []);
  for (const line of new Set(lines)) console.log(line);
  let [passed, failed] = [0, 0];
  for (const [name, result] of results) {
    passed += result.passed;
    failed += result.failed;
    const outcome = result.ok ? ['ok', result.note].filter(Boolean).join(', ') : `FAILED: ${result.reason.split('\n')[0]}`;
    console.log(`${name.padEnd(11)}${time(result.ms).padStart(6)}  ${String(result.passed).padStart(5)} passed  ${outcome}`);
    for (const line of result.output.match(/^test result: .*$/gm) ?? []) console.log(`${' '.repeat(19)}${line}`);
  }
  console.log(`total ${time(Date.now() - started)}`);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed) process.exitCode = 1;
});
