import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/platform/config/config.js';
import { endProcess } from '../../src/embedded/supervise.js';
import { findProcesses } from '../../src/embedded/processes.js';

export const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The cache of the person who runs the tests, where the Temporal server was put by an earlier start. */
export const cacheDir = readConfig(process.env).cacheDir;

/** A folder that is closed to others, as mktemp -d makes it. */
export async function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'durabill-start-'));
}

/** Ends every server that still works in the folder, and removes it. */
export async function removeFolder(folder: string): Promise<void> {
  for (const found of findProcesses(folder)) await endProcess(found, 'SIGINT', 5000);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A test gives up no sooner: what takes seconds on a quick machine takes a minute on one that others use. */
const patienceMs = 60_000;

/** Waits until something is so. The limit says only when a test gives up, not how long it may take. */
export async function until(isDone: () => unknown, timeoutMs: number, what: string): Promise<void> {
  const limitMs = Math.max(timeoutMs, patienceMs);
  const deadline = Date.now() + limitMs;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${limitMs} ms`);
    await sleep(50);
  }
}

/** A program that can be spoken to by signals, with what it has printed so far. */
export interface Started {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | NodeJS.Signals | null>;
}

export function startProgram(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Started {
  let text = '';
  const child = spawn(command, args, {
    cwd: repository,
    // A process group of its own: a test can kill all of it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return { child, output: () => text, ended };
}

/** Runs a module of TypeScript that may import ours as `repository/...`. */
export async function startModule(folder: string, source: string): Promise<Started> {
  const path = join(folder, 'script.mts');
  await writeFile(path, source.replaceAll('repository/', `${repository}/`));
  return startProgram(process.execPath, ['--import', 'tsx', path]);
}
