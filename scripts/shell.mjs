// Runs commands with live output and a time limit that ends the whole process tree; finds programs on PATH.

import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The first of `names` that can be executed from PATH or one of the folders in `more`. */
export function which(names, more = []) {
  for (const name of [names].flat()) {
    for (const folder of [...more, ...(process.env.PATH ?? '').split(delimiter)]) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not here: look on.
      }
    }
  }
  return undefined;
}

/** What a short command prints, or undefined where it fails. */
export function ask(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return status === 0 ? stdout.trim() : undefined;
}

/** Process ids below `pid`. Browsers leave the process group of their driver, so the group alone is not enough. */
function descendants(pid) {
  const children = new Map();
  let entries = [];
  try {
    entries = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // No /proc outside Linux: the process group has to do.
  }
  for (const entry of entries) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      // Ended while we looked.
    }
  }
  const found = [];
  const queue = [pid];
  while (queue.length) {
    const below = children.get(queue.pop()) ?? [];
    found.push(...below);
    queue.push(...below);
  }
  return found;
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}

const running = new Set();

/** Ends a child that `run` or `spawnTree` started, and everything below it. */
export function endTree(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const all = descendants(child.pid);
  signal(-child.pid, 'SIGKILL');
  for (const pid of [child.pid, ...all]) signal(pid, 'SIGKILL');
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(name, () => {
    running.forEach(endTree);
    process.exit(130);
  });
}

/** Starts a command as the leader of its own process group, so that `endTree` can end it. */
export function spawnTree(command, args, { cwd = root, env = {}, stdio = ['ignore', 'pipe', 'pipe'] } = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio, detached: true });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/**
 * Runs a command, shows its output as it comes and resolves to `{ ok, output, why }`.
 * `limit` is in seconds. Never rejects.
 */
export function run(command, args, { limit = 900, quiet = false, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawnTree(command, args, options);
    let output = '';
    let why;
    for (const [stream, out] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => {
        output += text;
        if (!quiet) out.write(text);
      });
    }
    const timer = setTimeout(() => {
      why = `ended after its limit of ${limit} s`;
      endTree(child);
    }, limit * 1000);
    const settle = (reason) => {
      clearTimeout(timer);
      running.delete(child);
      why ??= reason;
      resolve({ ok: why === undefined, output, why });
    };
    child.once('error', (error) => settle(`could not start ${command}: ${error.message}`));
    child.once('close', (code, name) => settle(code === 0 ? undefined : `${command} ended with ${name ?? `status ${code}`}`));
  });
}

/** `run` for a step that the rest depends on: throws when it fails, with the output where that was not shown. */
export async function must(command, args, options = {}) {
  const { ok, output, why } = await run(command, args, options);
  if (!ok) throw new Error(options.quiet ? `${why}\n${output}` : why);
  return output;
}

/** Makes a script end with its error as one line and a status of 1. */
export async function main(name, body) {
  try {
    await body();
  } catch (error) {
    console.error(`${name}: ${process.env.DEBUG ? error.stack : error.message}`);
    process.exitCode = 1;
  }
}
