import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { problem } from '../../kernel/problem.js';

/** A first start bundles within seconds; whoever waits longer asks again. */
const waitMs = 30_000;

/**
 * Resolves once the console is bundled to this folder, which a start that has compiled does beside itself
 * (docs/decisions/0469). Fails with 503 where it is not there after some time, in milliseconds.
 */
export async function untilBundled(folder: string, most = waitMs): Promise<void> {
  if (existsSync(folder)) return;
  const signal = AbortSignal.timeout(most);
  try {
    const watcher = watch(dirname(folder), { persistent: false });
    try {
      while (!existsSync(folder)) await once(watcher, 'change', { signal });
    } finally {
      watcher.close();
    }
  } catch {
    throw problem.unavailable(
      'The console is not bundled yet. Where the start has printed why, mend that; else try again.',
    );
  }
}
