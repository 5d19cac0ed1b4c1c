import { fork, type ChildProcess } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../platform/config/config.js';
import type { FetchOptions } from './search-path.js';

const extension = fileURLToPath(import.meta.url).slice(-3);
/** A network that drops packets instead of refusing them is noticed by this silence. */
const STALL_MS = 20_000;

/**
 * Has Temporal's SDK download the program. In a process of its own, because the SDK's runtime can
 * be made only once in a process and is the worker's, and because that one can be ended when the
 * network is silent.
 */
export async function downloadWithSdk(folder: string, options: FetchOptions): Promise<string> {
  const { onProgress, version, abort } = options;
  onProgress('downloading the Temporal server, once');
  const script = fileURLToPath(new URL(`temporal-download-child${extension}`, import.meta.url));
  const child = fork(script, [folder, version], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: childEnvironment(),
    signal: abort,
    killSignal: 'SIGKILL',
  });
  const ended = outcome(child);
  const isStalled = await watch(folder, ended, onProgress);
  if (isStalled) child.kill('SIGKILL');
  const failure = await ended;
  const [name] = (await readdir(folder)).filter((file) => !file.endsWith('.downloading'));
  if (name !== undefined) return join(folder, name);
  throw new Error(isStalled ? `no data for ${STALL_MS / 1000} s` : failure);
}

/** Resolves with the reason of a failure, or an empty text. */
async function outcome(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let message = 'it ended without a reason';
    child.on('message', (text) => {
      if (typeof text === 'string') message = text;
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? '' : message));
  });
}

/** Tells how much has come, until the child has ended (false) or nothing comes any more (true). */
async function watch(
  folder: string,
  ended: Promise<string>,
  onProgress: (text: string) => void,
): Promise<boolean> {
  const over = ended.then(() => 'over' as const);
  let bytes = 0;
  let lastGrowth = Date.now();
  while ((await Promise.race([over, sleep(500)])) !== 'over') {
    const now = await sizeOf(folder);
    if (now !== bytes) {
      lastGrowth = Date.now();
      onProgress(`downloading the Temporal server, once: ${Math.round(now / 1e6)} MB`);
    }
    bytes = now;
    if (Date.now() - lastGrowth > STALL_MS) return true;
  }
  return false;
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = names.map(async (name) => {
    return stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
