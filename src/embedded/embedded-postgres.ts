import {
  chown,
  mkdir,
  open,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sqlState, sqlStateOf } from '../kernel/sql-state.js';
import {
  dataFile,
  exists,
  prepareDataFolder,
  readOrCreateSecret,
  readText,
} from '../platform/data-folder.js';
import { readInstance, updateInstance } from './instance-lock.js';
import {
  chooseServerUser,
  findPostgresPrograms,
  type PostgresPrograms,
  type ServerUser,
} from './postgres-programs.js';
import { identify, untilEnded, workingDirectory, commandLine } from './processes.js';
import { logTail, runProgram, startDetached } from './spawn.js';
import { freePort } from '../platform/free-port.js';
import { StartupError, errorCode, firstLine } from '../platform/startup-error.js';
import { endProcess, supervise, type RunningServer, type SupervisedServer } from './supervise.js';

const DATABASE = 'durabill';
const SUPERUSER = 'postgres';

/** For two cores and a laptop's memory. Durability is PostgreSQL's own: fsync and synchronous_commit stay on. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '256MB',
  effective_cache_size: '2GB',
  work_mem: '16MB',
  maintenance_work_mem: '256MB',
  max_wal_size: '4GB',
  min_wal_size: '256MB',
  // Compressing pages costs rating as much as everything else that the database does for it
  // (docs/decisions/0078); npm's build has no lz4.
  wal_compression: 'off',
  // Tenants are moved to other servers by it (docs/decisions/0362).
  wal_level: 'logical',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  jit: 'off',
  // Our passwords are random; stretching them would hold the thread whenever connections are opened
  // (docs/decisions/0333).
  scram_iterations: '64',
  // A backend whose client was killed gives up its locks soon, not when its statement ends.
  client_connection_check_interval: '2s',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

export interface EmbeddedPostgres extends SupervisedServer {
  url: string;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  cacheDir: string;
  /** In place of those that suit one instance on one machine. */
  settings?: Readonly<Record<string, string>>;
  onProgress?: (text: string) => void;
  onWarning?: (text: string) => void;
}

interface Cluster {
  settings: Readonly<Record<string, string>>;
  dir: string;
  /** How PostgreSQL is told where its data are: see `pathForServer`. */
  path: string;
  logFile: string;
  programs: PostgresPrograms;
  user: ServerUser | undefined;
  onProgress: (text: string) => void;
}

/** Starts PostgreSQL on the data of this folder (made when new), or adopts the one that runs there. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { dataDir, cacheDir, onProgress = ignore, onWarning = ignore } = options;
  await prepareDataFolder(dataDir);
  const dir = dataFile.postgres(dataDir);
  const user = await chooseServerUser(dir);
  const programs = await findPostgresPrograms(cacheDir, user, onProgress);
  const logFile = dataFile.log(dataDir, 'postgres');
  const path = await pathForServer(dir, user);
  const settings = { ...SETTINGS, ...options.settings };
  const cluster: Cluster = { dir, path, logFile, programs, user, onProgress, settings };
  const password = await readOrCreateSecret(dataFile.postgresPassword(dataDir), () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url'),
  );
  await ensureCluster(cluster, password);

  const kept = (await readInstance(dataDir))?.ports.postgres;
  const port = (await survivor(cluster))?.port ?? (await freePort(kept));
  const urlOf = (database: string) =>
    `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  const server = await supervise({
    name: 'PostgreSQL',
    stopSignal: 'SIGINT',
    stopTimeoutMs: 12_000,
    onWarning,
    launch: async () => launch(cluster, port),
  });
  await updateInstance(dataDir, ({ ports }) => ({ ports: { ...ports, postgres: port } }));
  await ensureDatabase(urlOf, dataDir);
  return { ...server, url: urlOf(DATABASE) };
}

function ignore(): void {
  // The caller does not want to know.
}

/**
 * PostgreSQL changes into its data folder by its path, as a user who may not be able to pass
 * through the folders above it (a clone below mktemp -d, /root). Started inside the folder by root,
 * it can still reach it on Linux by the name of its own working directory.
 */
async function pathForServer(dir: string, user: ServerUser | undefined): Promise<string> {
  if (user === undefined || process.platform !== 'linux') return dir;
  for (let above = dirname(dir); above !== dirname(above); above = dirname(above)) {
    const { mode } = await stat(above);
    if ((mode & 0o001) === 0) return '/proc/self/cwd';
  }
  return dir;
}

/** Makes the cluster under another name first: one that is there is complete. */
async function ensureCluster(cluster: Cluster, password: string): Promise<void> {
  const { dir, programs, user } = cluster;
  const version = await readVersion(dir);
  if (version !== undefined) return refuseOtherVersion(dir, version, programs.major);

  cluster.onProgress('creating the database');
  const part = `${dir}.new`;
  const passwordFile = `${part}.password.${process.pid}`;
  let passwordHandle: FileHandle | undefined;
  try {
    await rm(part, { recursive: true, force: true });
    await mkdir(part, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    passwordHandle = await open(passwordFile, 'r');
    if (user !== undefined) {
      await chown(part, user.uid, user.gid);
      await passwordHandle.chown(user.uid, user.gid);
    }
    await runProgram(programs.initdb, {
      args: [
        '-D',
        cluster.path === dir ? part : cluster.path,
        `--username=${SUPERUSER}`,
        // By descriptor, because that user may not be able to reach the file by its path.
        '--auth=scram-sha-256',
        '--pwfile=/dev/fd/3',
        // The built-in C.UTF-8 is the same on every system, so an index never depends on libc.
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
        '--encoding=UTF8',
        '--data-checksums',
      ],
      cwd: part,
      descriptor: passwordHandle.fd,
      ...user,
    });
    await rename(part, dir);
  } catch (error) {
    throw new StartupError(`PostgreSQL cannot create its data in ${dir}: ${firstLine(error)}`);
  } finally {
    await passwordHandle?.close();
    await rm(passwordFile, { force: true });
  }
}

async function readVersion(dir: string): Promise<number | undefined> {
  try {
    const text = await readText(join(dir, 'PG_VERSION'));
    if (text !== undefined) return Number.parseInt(text, 10);
  } catch (error) {
    throw new StartupError(
      `Cannot read PostgreSQL's data in ${dir} (${errorCode(error)}): they belong to another user.`,
    );
  }
  if (!(await exists(dir))) return undefined;
  throw new StartupError(
    `The folder ${dir} holds no PostgreSQL data (no PG_VERSION): restore it, or move it away to begin anew.`,
  );
}

function refuseOtherVersion(dir: string, version: number, major: number): void {
  if (version === major) return;
  const way = version > major ? 'Start the newer Durabill' : `Convert them with pg_upgrade`;
  throw new StartupError(
    `The data in ${dir} are of PostgreSQL ${version}, this Durabill brings PostgreSQL ${major}. ` +
      `${way}, or set DATA_DIR to another folder.`,
  );
}

interface Survivor extends RunningServer {
  port: number;
  isReady: boolean;
}

/** The server that runs on this cluster, if one does. A number that another program has by now is none. */
async function survivor(cluster: Cluster): Promise<Survivor | undefined> {
  const { dir, path, programs } = cluster;
  const lines = (await readText(join(dir, 'postmaster.pid')))?.split('\n');
  const pid = Number(lines?.[0]);
  const process = identify(pid);
  if (lines === undefined || process === undefined) return undefined;
  const where = workingDirectory(pid);
  const isOurs =
    where === undefined ? commandLine(pid).includes(path) : where === (await realpath(dir));
  if (!isOurs) {
    // PostgreSQL itself would take any living process of that number for its predecessor.
    await rm(join(dir, 'postmaster.pid'), { force: true });
    return undefined;
  }
  const port = Number(lines[3]);
  const isReady = lines[7]?.trim() === 'ready';
  const command = (await readText(join(dir, 'postmaster.opts')))?.trim();
  const isSame =
    command === [programs.postgres, ...serverArguments(cluster, port).map(quoted)].join(' ');
  return { process, exited: untilEnded(process), port, isReady: isReady && isSame };
}

function quoted(argument: string): string {
  return `"${argument}"`;
}

function serverArguments({ path, settings: own }: Cluster, port: number): string[] {
  const settings = Object.entries({ ...own, port: String(port) });
  return ['-D', path, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Adopts a server that runs with our settings, ends one that does not, else starts one. */
async function launch(cluster: Cluster, port: number): Promise<RunningServer> {
  const found = await survivor(cluster);
  if (found?.isReady === true && found.port === port) {
    cluster.onProgress('found it running');
    return found;
  }
  if (found !== undefined) await endProcess(found.process, 'SIGINT', 12_000);
  const deadline = Date.now() + 10_000;
  for (;;) {
    const result = await tryStart(cluster, port);
    if (typeof result !== 'string') return result;
    // Backends of a killed server hold its memory, and its port, for another moment.
    const isPassing = /shared memory block|already exists|could not (bind|create)/.test(result);
    if (!isPassing || Date.now() > deadline) {
      throw new StartupError(`PostgreSQL does not start: ${result} (log: ${cluster.logFile})`);
    }
    await sleep(100);
  }
}

/** The server when it answers, or the reason why it ended. */
async function tryStart(cluster: Cluster, port: number): Promise<RunningServer | string> {
  const { dir, logFile, programs, user } = cluster;
  const started = Date.now();
  const child = await startDetached(programs.postgres, {
    args: serverArguments(cluster, port),
    cwd: dir,
    logFile,
    ...user,
  });
  let lastSecond = 0;
  while (!child.hasExited()) {
    const lines = (await readText(join(dir, 'postmaster.pid')).catch(() => undefined))?.split('\n');
    if (lines?.[0] === String(child.process.pid) && lines[7]?.trim() === 'ready') return child;
    const second = Math.floor((Date.now() - started) / 1000);
    if (second > lastSecond) cluster.onProgress(`recovering after a crash (${second} s)`);
    lastSecond = second;
    await sleep(10);
  }
  const tail = await logTail(logFile, child.logStart);
  return (
    /FATAL: +(.*)/.exec(tail)?.[1] ?? firstLine(tail.trim().split('\n').at(-1) ?? 'no reason given')
  );
}

async function ensureDatabase(urlOf: (database: string) => string, dataDir: string): Promise<void> {
  try {
    if (await canConnect(urlOf(DATABASE))) return;
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    // Of a connection that is lost, whoever waits for it is told.
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`create database ${DATABASE}`);
    await client.end();
  } catch (error) {
    if (sqlStateOf(error) !== sqlState.invalidPassword) throw error;
    throw new StartupError(
      `PostgreSQL refuses the password in ${dataFile.postgresPassword(dataDir)}: restore that file.`,
    );
  }
}

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (sqlStateOf(error) === sqlState.unknownDatabase) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
