import { stopTestServers } from './servers.js';

/** Called by mocha after the last test; the servers start when the first test needs them. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopTestServers();
}
