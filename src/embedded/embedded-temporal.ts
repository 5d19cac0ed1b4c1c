import { chmod, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataFile, prepareDataFolder } from '../platform/data-folder.js';
import { readInstance, updateInstance } from './instance-lock.js';
import { commandLine, findProcesses, isOpen, untilEnded } from './processes.js';
import { logTail, startDetached } from './spawn.js';
import { freePort } from '../platform/free-port.js';
import { StartupError, errorCode, firstLine } from '../platform/startup-error.js';
import { endProcess, supervise, type RunningServer, type SupervisedServer } from './supervise.js';

/**
 * Keys and shipped values are those of go.temporal.io/server v1.29.1, common/dynamicconfig. The
 * shipped limits are for one tenant of a shared cluster; here they would throttle at about 500
 * workflows per second.
 */
const DYNAMIC_CONFIG = {
  // Shipped 20: a task would wait up to 50 ms for its queue to be read.
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'system.enableActivityEagerExecution': true,
  'system.enableEagerWorkflowStart': true,
  'frontend.rps': 50_000,
  'frontend.namespaceRPS': 50_000,
  'frontend.namespaceRPS.visibility': 1000,
  // Long polls at a time: everyone who waits for the result of a flow holds one.
  'frontend.namespaceCount': 50_000,
  'history.rps': 50_000,
  'matching.rps': 50_000,
  'frontend.persistenceMaxQPS': 200_000,
  'history.persistenceMaxQPS': 200_000,
  'matching.persistenceMaxQPS': 200_000,
  // The development server always opens a port for HTTP, which pages in a browser and webhooks could
  // reach. It answers hosts of this name alone, and no request can carry such a name.
  'frontend.httpAllowedHosts': '["\\u0001"]',
  // Tasks of tenants come in turn, instead of in the order of their arrival (docs/decisions/0404).
  'matching.enableFairness': true,
  'system.enableNexus': false,
};

/** Losing power may lose the last moments of the file, never its consistency; PostgreSQL is the record. */
const SQLITE_PRAGMAS = { journal_mode: 'WAL', synchronous: 'NORMAL' };

const READY_TIMEOUT_MS = 60_000;

export interface EmbeddedTemporal extends SupervisedServer {
  address: string;
  uiUrl: string;
}

export interface EmbeddedTemporalOptions {
  dataDir: string;
  binary: string;
  namespace: string;
  onProgress?: (text: string) => void;
  onWarning?: (text: string) => void;
}

interface DevServer {
  binary: string;
  databaseFile: string;
  namespace: string;
  logFile: string;
  port: number;
  uiPort: number;
  cwd: string;
  onProgress: (text: string) => void;
}

/** Starts Temporal's development server on the data of this folder, or adopts the one that runs there. */
export async function startEmbeddedTemporal(
  options: EmbeddedTemporalOptions,
): Promise<EmbeddedTemporal> {
  const { dataDir, binary, namespace, onProgress = ignore, onWarning = ignore } = options;
  await prepareDataFolder(dataDir);
  const folder = await realpath(dataDir);
  const kept = (await readInstance(dataDir))?.ports;
  const server: DevServer = {
    binary,
    namespace,
    databaseFile: dataFile.temporal(folder),
    logFile: dataFile.log(folder, 'temporal'),
    port: kept?.temporal ?? (await freePort()),
    uiPort: kept?.temporalUi ?? (await freePort()),
    cwd: join(folder, 'log'),
    onProgress,
  };
  if (survivors(server).length === 0) {
    server.port = await freePort(server.port);
    server.uiPort = await freePort(server.uiPort);
  }
  await closeToOthers(server);
  const supervised = await supervise({
    name: 'Temporal',
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 8000,
    onWarning,
    launch: async () => launch(server),
  });
  await updateInstance(dataDir, ({ ports }) => ({
    ports: { ...ports, temporal: server.port, temporalUi: server.uiPort },
  }));
  return { ...supervised, address: addressOf(server), uiUrl: `http://127.0.0.1:${server.uiPort}` };
}

function ignore(): void {
  // The caller does not want to know.
}

function addressOf({ port }: DevServer): string {
  return `127.0.0.1:${port}`;
}

function serverArguments(server: DevServer): string[] {
  const { databaseFile, namespace, port, uiPort } = server;
  const dynamic = Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${value}`,
  ]);
  const pragmas = Object.entries(SQLITE_PRAGMAS).flatMap(([name, value]) => [
    '--sqlite-pragma',
    `${name}=${value}`,
  ]);
  return [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--log-level',
    'warn',
    '--port',
    String(port),
    '--ui-port',
    String(uiPort),
    '--db-filename',
    databaseFile,
    '--namespace',
    namespace,
    ...pragmas,
    ...dynamic,
  ];
}

/** A file that another program or an older version made is closed to others, too. */
async function closeToOthers({ databaseFile }: DevServer): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) {
    await chmod(`${databaseFile}${suffix}`, 0o600).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
    });
  }
}

/** The server processes of this data folder, whoever started them. */
function survivors({ databaseFile }: DevServer) {
  return findProcesses('server start-dev', `--db-filename ${databaseFile} `);
}

async function launch(server: DevServer): Promise<RunningServer> {
  const command = [server.binary, ...serverArguments(server)].join(' ');
  for (const process of survivors(server)) {
    const isOurs = commandLine(process.pid) === command;
    if (isOurs && (await answers(server, Date.now() + 2000))) {
      server.onProgress('found it running');
      return { process, exited: untilEnded(process) };
    }
    // Two servers on one SQLite file would block each other.
    await endProcess(process, 'SIGTERM', 8000);
  }
  const child = await startDetached(server.binary, {
    args: serverArguments(server),
    cwd: server.cwd,
    logFile: server.logFile,
  });
  if (await answers(server, Date.now() + READY_TIMEOUT_MS, child.hasExited)) return child;
  const tail = (await logTail(server.logFile, child.logStart)).trim().split('\n');
  const reason = child.hasExited()
    ? firstLine(tail.find((line) => /error/i.test(line)) ?? tail.at(-1))
    : `no answer within ${READY_TIMEOUT_MS / 1000} s`;
  await endProcess(child.process, 'SIGTERM', 2000);
  throw new StartupError(`Temporal does not start: ${reason} (log: ${server.logFile})`);
}

/** Whether the server describes its namespace before the deadline; gives up when it has ended. */
async function answers(
  server: DevServer,
  deadline: number,
  hasExited: () => boolean = () => false,
): Promise<boolean> {
  const { Connection } = await import('@temporalio/client');
  // A gRPC connection that is refused waits a second before it tries again; a plain one need not.
  while (!hasExited() && Date.now() < deadline && !(await isOpen(server.port))) await sleep(10);
  const connection = Connection.lazy({ address: addressOf(server) });
  try {
    while (!hasExited() && Date.now() < deadline) {
      const isThere = await connection
        .withDeadline(Date.now() + 1000, async () =>
          connection.workflowService.describeNamespace({ namespace: server.namespace }),
        )
        .then(
          () => true,
          () => false,
        );
      if (isThere) return true;
      await sleep(30);
    }
    return false;
  } finally {
    await connection.close();
  }
}
