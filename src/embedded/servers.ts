import pg from 'pg';
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
import { startEmbeddedPostgres } from './postgres.js';
import { reach } from './processes.js';
import { StartupError, firstLine } from '../platform/startup-error.js';
import type { SupervisedServer } from './supervise.js';
import { findTemporal } from './temporal-program.js';
import { startEmbeddedTemporal } from './temporal.js';

export interface TemporalServer {
  address: string;
  namespace: string;
  uiUrl: string | null;
  tls: boolean;
  apiKey: string | undefined;
}

export interface Servers {
  databaseUrl: string;
  temporal: TemporalServer;
  stop: () => Promise<void>;
}

export interface Progress {
  onProgress?: (text: string) => void;
  /** An embedded server died and is started again. */
  onWarning?: (text: string) => void;
  abort?: AbortSignal;
}

/** What this process has to do with the embedded servers of its data folder. */
export interface Tenure {
  /** False for a process that uses the servers of another one, or none. */
  isOwner: boolean;
  /** Base64 of 32 bytes: SECRET_KEY, or the one kept in the data folder. */
  secretKey: string;
  openDatabase: (progress?: Progress) => Promise<string>;
  openTemporal: (progress?: Progress) => Promise<TemporalServer>;
  /** Tells other processes and commands where the API is, and that all is ready. */
  announce: (apiUrl: string | null) => Promise<void>;
  /** Tells a start that comes now that this process will be gone soon. */
  announceEnd: () => Promise<void>;
  /** Stops what was embedded and lets go of the folder. */
  stop: () => Promise<void>;
  /** Asks what was embedded to end, at the last moment of this process. */
  abandon: () => void;
}

/** Database and Temporal for this configuration, embedded or external, each on its own. */
export async function openServers(config: Config, progress: Progress = {}): Promise<Servers> {
  const tenure = await occupy(config, progress);
  try {
    const [databaseUrl, temporal] = await settleAll([
      tenure.openDatabase(progress),
      tenure.openTemporal(progress),
    ]);
    await tenure.announce(null);
    return { databaseUrl, temporal, stop: tenure.stop };
  } catch (error) {
    await tenure.stop();
    throw error;
  }
}

/** Like Promise.all, but fails only when all have ended: then nothing is still being started. */
async function settleAll<A, B>(promises: [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * Takes the data folder. The first process on it owns the embedded servers; while it runs, more
 * processes of role api or worker join them, and a second one of role all is refused.
 */
export async function occupy(config: Config, progress: Progress = {}): Promise<Tenure> {
  const { dataDir } = config;
  const isEmbedded = config.databaseUrl === undefined || config.temporal.address === undefined;
  if (!isEmbedded && config.secretKey !== undefined) return external(config, config.secretKey);

  await prepareDataFolder(dataDir);
  await refuseNewerFormat(dataDir);
  const secretKey = config.secretKey ?? (await readOrCreateSecret(dataFile.secretKey(dataDir)));
  if (!isEmbedded) return external(config, secretKey);
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
      const given = externalTemporal(config);
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
    ...external(config, secretKey),
    async openDatabase(progress = {}) {
      if (config.databaseUrl !== undefined) return reachDatabase(config.databaseUrl);
      return until(dataDir, 'databaseUrl', progress);
    },
    async openTemporal(progress = {}) {
      const given = externalTemporal(config);
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

/** Nothing is embedded, or nothing of it is ours. */
function external(config: Config, secretKey: string): Tenure {
  return {
    isOwner: false,
    secretKey,
    openDatabase: async () => reachDatabase(config.databaseUrl ?? ''),
    openTemporal: async () => reachTemporal(externalTemporal(config)),
    announce: () => Promise.resolve(),
    announceEnd: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    abandon: () => undefined,
  };
}

function externalTemporal({ temporal }: Config): TemporalServer | undefined {
  const { address, namespace, tls, apiKey } = temporal;
  return address === undefined ? undefined : { address, namespace, uiUrl: null, tls, apiKey };
}

/**
 * Where one server is configured and another one embedded: the configured one is asked first, so that
 * nothing is started, or downloaded, for a start that cannot succeed.
 */
export async function reachConfigured(config: Config): Promise<void> {
  const { databaseUrl } = config;
  const temporal = externalTemporal(config);
  if (databaseUrl !== undefined && temporal === undefined) await reachDatabase(databaseUrl);
  if (databaseUrl === undefined && temporal !== undefined) await reachTemporal(temporal);
}

/** Shows in one line what is wrong with DATABASE_URL, before anything is built on it. */
async function reachDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // Of a connection that is lost, whoever waits for it is told.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return url;
  } catch (error) {
    throw new StartupError(
      `Cannot use the database of DATABASE_URL at ${new URL(url).host}: ${firstLine(error)}.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function reachTemporal(temporal: TemporalServer | undefined): Promise<TemporalServer> {
  if (temporal === undefined) throw new Error('TEMPORAL_ADDRESS is not set');
  const { address } = temporal;
  const end = address.lastIndexOf(':');
  const host = address.slice(0, end).replace(/^\[|\]$/g, '');
  const problem = await reach(host, Number(address.slice(end + 1)));
  if (problem === undefined) return temporal;
  throw new StartupError(`Cannot reach Temporal at TEMPORAL_ADDRESS ${address}: ${problem}.`);
}
