import { readConfig } from '../../src/platform/config.js';
import { findTemporal } from '../../src/platform/embedded/temporal-program.js';
import { stopTestServers } from './servers.js';

/**
 * Called by mocha before the first test: a machine without a Temporal server fetches or builds one,
 * which takes minutes and so must not happen under the time limit of a test.
 */
export async function mochaGlobalSetup(): Promise<void> {
  const { cacheDir, searchPath } = readConfig(process.env);
  await findTemporal({
    ...{ cacheDir, searchPath },
    onProgress: (text) => process.stderr.write(`Temporal server: ${text}\n`),
  });
}

/** Called by mocha after the last test; the other servers start when the first test needs them. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopTestServers();
}
