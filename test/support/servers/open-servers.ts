import { occupy } from '../../../src/embedded/embedded-servers.js';
import type { Config } from '../../../src/platform/config/config.js';
import {
  areServersConfigured,
  useConfiguredServers,
  type Progress,
  type TemporalServer,
} from '../../../src/platform/configured-servers.js';

interface Servers {
  databaseUrl: string;
  temporal: TemporalServer;
  stop: () => Promise<void>;
}

/** Database and Temporal for tests and benches, embedded or external, each on its own. */
export async function openServers(config: Config, progress: Progress = {}): Promise<Servers> {
  const tenure = areServersConfigured(config)
    ? await useConfiguredServers(config)
    : await occupy(config, progress);
  const starting = [tenure.openDatabase(progress), tenure.openTemporal(progress)] as const;
  try {
    // When one fails, the other has ended too: nothing is still being started.
    await Promise.allSettled(starting);
    const [databaseUrl, temporal] = await Promise.all(starting);
    await tenure.announce(null);
    return { databaseUrl, temporal, stop: tenure.stop };
  } catch (error) {
    await tenure.stop();
    throw error;
  }
}
