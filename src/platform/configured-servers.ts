import { connect } from 'node:net';
import pg from 'pg';
import type { Config } from './config/config.js';
import { dataFile, prepareDataFolder, readOrCreateSecret } from './data-folder.js';
import { StartupError, firstLine } from './startup-error.js';

export interface TemporalServer {
  address: string;
  namespace: string;
  uiUrl: string | null;
  tls: boolean;
  apiKey: string | undefined;
}

export interface Progress {
  onProgress?: (text: string) => void;
  /** An embedded server died and is started again. */
  onWarning?: (text: string) => void;
  abort?: AbortSignal;
}

/** The embedded servers of a data folder as one process sees them. */
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

/** Whether the configuration says where both servers are, so that nothing is embedded. */
export const areServersConfigured = ({ databaseUrl, temporal }: Config): boolean =>
  databaseUrl !== undefined && temporal.address !== undefined;

/** The servers of the configuration; the data folder holds the secret alone, where none is set. */
export async function useConfiguredServers(config: Config): Promise<Tenure> {
  const { dataDir, secretKey } = config;
  if (secretKey !== undefined) return configuredServers(config, secretKey);
  await prepareDataFolder(dataDir);
  return configuredServers(config, await readOrCreateSecret(dataFile.secretKey(dataDir)));
}

/** For a process without embedded servers, or one that uses those of another process. */
export function configuredServers(config: Config, secretKey: string): Tenure {
  return {
    isOwner: false,
    secretKey,
    openDatabase: async () => reachDatabase(config.databaseUrl ?? ''),
    openTemporal: async () => reachTemporal(configuredTemporal(config)),
    announce: () => Promise.resolve(),
    announceEnd: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    abandon: () => undefined,
  };
}

export function configuredTemporal({ temporal }: Config): TemporalServer | undefined {
  const { address, namespace, tls, apiKey } = temporal;
  return address === undefined ? undefined : { address, namespace, uiUrl: null, tls, apiKey };
}

/**
 * If one server is configured and another one embedded, checks the configured one first, so that
 * nothing is started or downloaded for a start that cannot succeed.
 */
export async function reachConfigured(config: Config): Promise<void> {
  const { databaseUrl } = config;
  const temporal = configuredTemporal(config);
  if (databaseUrl !== undefined && temporal === undefined) await reachDatabase(databaseUrl);
  if (databaseUrl === undefined && temporal !== undefined) await reachTemporal(temporal);
}

/** Checks DATABASE_URL before anything depends on it; the error is one line. */
export async function reachDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // The pending query rejects when a connection is lost; the event needs no handling.
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

export async function reachTemporal(temporal: TemporalServer | undefined): Promise<TemporalServer> {
  if (temporal === undefined) throw new Error('TEMPORAL_ADDRESS is not set');
  const { address } = temporal;
  const end = address.lastIndexOf(':');
  const host = address.slice(0, end).replace(/^\[|\]$/g, '');
  const problem = await reach(host, Number(address.slice(end + 1)));
  if (problem === undefined) return temporal;
  throw new StartupError(`Cannot reach Temporal at TEMPORAL_ADDRESS ${address}: ${problem}.`);
}

/** The error of a TCP connection to that address; undefined if it succeeds. */
export async function reach(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 10_000 });
    const end = (problem?: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => end());
    socket.once('timeout', () => end('no answer within 10 s'));
    socket.once('error', (error) => end(firstLine(error)));
  });
}
