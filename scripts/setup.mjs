// Installs what the other scripts need, unless it is there: `node scripts/setup.mjs [part…]`.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ask, main, must, root, run, which } from './shell.mjs';

const GECKODRIVER = '0.37.1';
const WASM = 'wasm32-unknown-unknown';

/** Where cargo installs tools for this project only. */
const tools = join(root, '.cache', 'tools');
const places = [join(tools, 'bin'), join(homedir(), '.cargo', 'bin')];

/** The version that the command-line tool must have: exactly the crate's, since their format changes with every version. */
function bindgenVersion() {
  const lock = readFileSync(join(root, 'Cargo.lock'), 'utf8');
  const [, version] = lock.match(/name = "wasm-bindgen"\nversion = "([^"]+)"/) ?? [];
  if (!version) throw new Error('Cargo.lock names no wasm-bindgen');
  return version;
}

/** The oldest Rust that may compile the crate, as a toolchain of rustup. */
function oldestRust() {
  const [, version] = readFileSync(join(root, 'Cargo.toml'), 'utf8').match(/^rust-version = "([^"]+)"/m) ?? [];
  if (!version) throw new Error('Cargo.toml names no rust-version');
  return version;
}

/** Whether the toolchain, or the one in use, has the standard library of a target. */
const hasTarget = (name, toolchain) => {
  const rustc = toolchain ? ['rustup', 'run', toolchain, 'rustc'] : ['rustc'];
  const sysroot = ask(...rustc, '--print', 'sysroot');
  return Boolean(sysroot) && existsSync(join(sysroot, 'lib', 'rustlib', name));
};

/** The paths of every executable of that name; those in our own folders come first. */
function everyTool(name) {
  const found = places.map((folder) => which(name, [folder])).concat(which(name));
  return [...new Set(found.filter(Boolean))];
}

function bindgen(name = 'wasm-bindgen') {
  const version = bindgenVersion();
  return everyTool(name).find((path) => ask(path, '--version')?.split(' ')[1] === version);
}

const firefoxNames = ['firefox-esr', 'firefox'];
const chromiumNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The paths of the tools that the scripts call. */
export const tool = {
  bindgen: () => bindgen(),
  bindgenRunner: () => bindgen('wasm-bindgen-test-runner'),
  geckodriver: () => everyTool('geckodriver')[0],
  chromium: () => which(chromiumNames),
  chromedriver: () => which('chromedriver'),
  firefox: () => which(firefoxNames),
  /** What runs cargo of the oldest Rust, or undefined without it. */
  oldestCargo: () => (hasTarget(WASM, oldestRust()) ? ['rustup', 'run', oldestRust(), 'cargo'] : undefined),
};

/** Whether there is a Vulkan driver: each has a JSON file in one of these folders. */
function hasVulkanDriver() {
  if (process.env.VK_DRIVER_FILES || process.env.VK_ICD_FILENAMES) return true;
  return ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d', '/usr/local/share/vulkan/icd.d'].some(
    (folder) => existsSync(folder) && readdirSync(folder).some((file) => file.endsWith('.json')),
  );
}

/** True where `npm ci` ran in `folder` after its lock file was last written. */
function hasModules(folder) {
  const installed = join(folder, 'node_modules', '.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs;
}

const npmCi = (cwd) => must('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd, limit: 600 });

/** The tools run for seconds only, so they are compiled quickly rather than well. */
const quickBuild = { CARGO_PROFILE_RELEASE_OPT_LEVEL: '1', CARGO_PROFILE_RELEASE_LTO: 'off', CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16' };

/** Installs a tool with the dependencies that its authors locked or, if the registry lacks one of them, with those cargo resolves. */
async function cargoInstall(crate, version) {
  const args = ['install', '--quiet', '--root', tools, '--version', version, crate];
  const options = { env: quickBuild, limit: 1500 };
  const { ok } = await run('cargo', [...args, '--locked'], { ...options, quiet: true });
  if (ok) return;
  console.log(`setup: installing ${crate} once more, without its own lock file`);
  await must('cargo', args, options);
}

async function rustup(...args) {
  if (!which('rustup')) throw new Error(`install this with the tool that installed Rust: rustup ${args.join(' ')}`);
  await must('rustup', args, { limit: 600 });
}

// Each part tells whether it is `present`, and how to get it: by `install`, or by the Debian package `apt`.
// Nothing fails without one that is `optional`.
const parts = {
  modules: { what: 'the npm packages of this project', present: () => hasModules(root), install: () => npmCi(root) },
  demo: {
    what: 'the npm packages of the demo page',
    present: () => hasModules(join(root, 'www')),
    install: () => npmCi(join(root, 'www')),
  },
  bench: {
    what: 'the npm packages of the benchmark page',
    present: () => hasModules(join(root, 'bench')),
    install: () => npmCi(join(root, 'bench')),
  },
  target: {
    what: `Rust's ${WASM} target`,
    present: () => hasTarget(WASM),
    install: () => rustup('target', 'add', WASM),
  },
  oldest: {
    what: `Rust ${oldestRust()}, the oldest that is supported`,
    optional: true, // not every mirror has it, and only one check wants it
    present: () => tool.oldestCargo(),
    install: () => rustup('toolchain', 'install', oldestRust(), '--profile', 'minimal', '--target', WASM),
  },
  lint: {
    what: 'rustfmt and clippy',
    present: () => ask('cargo', 'fmt', '--version') && ask('cargo', 'clippy', '--version'),
    install: () => rustup('component', 'add', 'rustfmt', 'clippy'),
  },
  bindgen: {
    what: 'wasm-bindgen of the version in Cargo.lock',
    present: () => tool.bindgen() && tool.bindgenRunner(),
    install: () => cargoInstall('wasm-bindgen-cli', bindgenVersion()),
  },
  geckodriver: {
    what: `geckodriver ${GECKODRIVER}`,
    present: tool.geckodriver,
    install: () => cargoInstall('geckodriver', GECKODRIVER),
  },
  chromium: { what: 'Chromium', present: tool.chromium, apt: 'chromium' },
  chromedriver: { what: "Chromium's driver", present: tool.chromedriver, apt: 'chromium-driver' },
  firefox: { what: 'Firefox', present: tool.firefox, apt: 'firefox-esr' },
  vulkan: { what: 'a Vulkan driver', present: () => process.platform !== 'linux' || hasVulkanDriver(), apt: 'mesa-vulkan-drivers' },
  pip: { what: 'pip', present: () => which('pip') || ask('python3', '-m', 'pip', '--version'), apt: 'python3-pip' },
};

/** Installs Debian packages if run as root; otherwise fails with the line that installs them. */
async function aptInstall(names) {
  const packages = names.map((name) => parts[name].apt);
  const line = `apt-get install ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || !which('apt-get')) {
    throw new Error(`missing: ${names.map((name) => parts[name].what).join(', ')}. On Debian, run as root: ${line}`);
  }
  console.log(`setup: ${line}`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await must('apt-get', ['update', '-qq'], { env, limit: 300, quiet: true });
  await must('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env, limit: 1200, quiet: true });
}

/** Installs the named parts that are missing. */
export async function setup(names = Object.keys(parts)) {
  const missing = [...new Set(names)].filter((name) => !parts[name].present());
  const debian = missing.filter((name) => parts[name].apt);
  if (debian.length) await aptInstall(debian);
  for (const name of missing) {
    if (parts[name].apt) continue;
    console.log(`setup: installing ${parts[name].what}`);
    await parts[name].install().catch((error) => {
      if (!parts[name].optional) throw error;
      console.log(`setup: going on without it: ${error.message}`);
    });
  }
  const still = missing.filter((name) => !parts[name].optional && !parts[name].present());
  if (still.length) throw new Error(`still missing after the installation: ${still.map((name) => parts[name].what).join(', ')}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main('setup', async () => {
    const names = process.argv.slice(2);
    const unknown = names.filter((name) => !Object.hasOwn(parts, name));
    if (unknown.length) throw new Error(`no such part: ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}`);
    await setup(names.length ? names : undefined);
    const left = Object.keys(parts).filter((name) => (names.length === 0 || names.includes(name)) && !parts[name].present());
    const without = left.map((name) => parts[name].what).join(', ');
    console.log(left.length ? `setup: in place, but for ${without}` : 'setup: everything is in place');
  });
}
