import type { Config } from '../platform/config/config.js';
import { dataFile, prepareDataFolder, readOrCreateSecret } from '../platform/data-folder.js';
import {
  acquireInstanceLock,
  alreadyRunning,
  readInstance,
  refuseNewerFormat,
  updateInstance,
  type InstanceLock,
} from './instance-lock.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import {
  configuredServers,
  configuredTemporal,
  reachDatabase,
  reachTemporal,
  type Progress,
  type TemporalServer,
  type Tenure,
} from '../platform/configured-servers.js';
import { StartupError } from '../platform/startup-error.js';
import type { SupervisedServer } from './supervise.js';
import { findTemporal } from './temporal-program.js';
import { startEmbeddedTemporal } from './embedded-temporal.js';

/**
 * Takes the data folder, for a configuration that leaves a server open. The first process on it owns
 * the embedded servers; while it runs, more processes of role api or worker join them, and a second one
 * of role all is refused.
 */
export async function occupy(config: Config, progress: Progress = {}): Promise<Tenure> {
  const { dataDir } = config;
  await prepareDataFolder(dataDir);
  await refuseNewerFormat(dataDir);
  const secretKey = config.secretKey ?? (await readOrCreateSecret(dataFile.secretKey(dataDir)));
  const lock = await acquireInstanceLock(dataDir, progress.onProgress);
  if (lock !== undefined) return owner(config, secretKey, lock);
  if (config.role === 'all') throw await alreadyRunning(dataDir);
  return joiner(config, secretKey);
}

async function owner(config: Config, secretKey: string, lock: InstanceLock): Promise<Tenure> {
  const { dataDir, cacheDir } = config;
  const starting: Promise<SupervisedServer>[] = [];
  const started: SupervisedServer[] = [];
  const keep = async <T extends SupervisedServer>(server: Promise<T>): Promise<T> => {
    starting.push(server);
    started.push(await server);
    return server;
  };
  await updateInstance(dataDir, () => ({
    state: 'starting',
    apiUrl: null,
    databaseUrl: null,
    temporalAddress: null,
    temporalNamespace: null,
    temporalUiUrl: null,
  }));
  return {
    isOwner: true,
    secretKey,
    async openDatabase(progress = {}) {
      const databaseUrl =
        config.databaseUrl === undefined
          ? (await keep(startEmbeddedPostgres({ dataDir, cacheDir, ...progress }))).url
          : await reachDatabase(config.databaseUrl);
      await updateInstance(dataDir, () => ({ databaseUrl }));
      return databaseUrl;
    },
    async openTemporal(progress = {}) {
      const given = configuredTemporal(config);
      const temporal =
        given === undefined
          ? await embeddedTemporal(config, progress, keep)
          : await reachTemporal(given);
      const { address: temporalAddress, namespace: temporalNamespace, uiUrl } = temporal;
      await updateInstance(dataDir, () => ({
        temporalAddress,
        temporalNamespace,
        temporalUiUrl: uiUrl,
      }));
      return temporal;
    },
    async announce(apiUrl) {
      await updateInstance(dataDir, () => ({ apiUrl, state: 'ready' }));
    },
    async announceEnd() {
      await updateInstance(dataDir, () => ({ state: 'stopping' }));
    },
    async stop() {
      await updateInstance(dataDir, () => ({ state: 'stopping' }));
      // One that is still being started would live on as nobody's.
      await Promise.allSettled(starting);
      await Promise.all(started.map(async (server) => server.stop()));
      await updateInstance(dataDir, () => ({ state: 'stopped' }));
      await lock.release();
    },
    abandon() {
      for (const server of started) server.abandon();
    },
  };
}

async function embeddedTemporal(
  { dataDir, cacheDir, searchPath, temporal: { namespace } }: Config,
  progress: Progress,
  keep: <T extends SupervisedServer>(server: Promise<T>) => Promise<T>,
): Promise<TemporalServer> {
  const binary = await findTemporal({ cacheDir, searchPath, ...progress });
  const starting = startEmbeddedTemporal({ dataDir, binary, namespace, ...progress });
  const { address, uiUrl } = await keep(starting);
  return { address, namespace, uiUrl, tls: false, apiKey: undefined };
}

/** A process of role api or worker beside the one that owns the folder's servers. */
function joiner(config: Config, secretKey: string): Tenure {
  const { dataDir } = config;
  return {
    ...configuredServers(config, secretKey),
    async openDatabase(progress = {}) {
      if (config.databaseUrl !== undefined) return reachDatabase(config.databaseUrl);
      return until(dataDir, 'databaseUrl', progress);
    },
    async openTemporal(progress = {}) {
      const given = configuredTemporal(config);
      if (given !== undefined) return reachTemporal(given);
      const address = await until(dataDir, 'temporalAddress', progress);
      const instance = await readInstance(dataDir);
      return {
        address,
        namespace: instance?.temporalNamespace ?? config.temporal.namespace,
        uiUrl: instance?.temporalUiUrl ?? null,
        tls: false,
        apiKey: undefined,
      };
    },
    async announce(apiUrl) {
      if (apiUrl === null) return;
      await updateInstance(dataDir, (kept) => ({ apiUrl: kept.apiUrl ?? apiUrl }));
    },
  };
}

/** Waits for the owner, which may be starting just now. */
async function until(
  dataDir: string,
  what: 'databaseUrl' | 'temporalAddress',
  { onProgress, abort }: Progress,
): Promise<string> {
  for (;;) {
    const instance = await readInstance(dataDir);
    const value = instance?.[what];
    if (instance?.isRunning !== true || abort?.aborted === true) {
      throw new StartupError(
        `The process that owns the servers of ${dataDir} has ended: start this one again.`,
      );
    }
    if (typeof value === 'string') return value;
    onProgress?.('waiting for the process that owns the embedded servers');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
