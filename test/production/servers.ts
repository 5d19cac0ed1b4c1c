import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { isOpen } from '../../src/embedded/processes.js';
import { freePort } from '../../src/platform/free-port.js';
import { logTail, startDetached } from '../../src/embedded/spawn.js';
import { StartupError } from '../../src/platform/startup-error.js';
import {
  endProcess,
  supervise,
  type RunningServer,
  type SupervisedServer,
} from '../../src/embedded/supervise.js';
import { repository } from '../start/workbench.js';
import { findJava, findKafka, findTemporalServer, runProgram, type Fetching } from './programs.js';

interface Launch {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly isReady: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

const readyTimeoutMs = 120_000;

async function launch({ name, program, args, folder, isReady, signal }: Launch) {
  const logFile = join(folder, `${name}.log`);
  const child = await startDetached(program, { args, cwd: folder, logFile });
  const deadline = Date.now() + readyTimeoutMs;
  while (!child.hasExited() && Date.now() < deadline && !signal.aborted) {
    if (await isReady()) return child satisfies RunningServer;
    await wait(100);
  }
  await endProcess(child.process, 'SIGTERM', 5_000);
  signal.throwIfAborted();
  throw new StartupError(`${name} does not start: ${await logTail(logFile, child.logStart)}`);
}

/** Keeps a server running: tests kill it, and it comes back on the same port with the same data. */
const keep = (options: Launch, tell: (text: string) => void): Promise<SupervisedServer> =>
  supervise({
    name: options.name,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 15_000,
    onWarning: tell,
    launch: () => launch(options),
  });

export interface KafkaServer extends SupervisedServer {
  readonly brokers: string;
  /** `port:port`: who comes by the first, which is free for a test, is sent on to the second. */
  readonly cable: string;
  /** A way in that wants TLS and a password, of `user` with any mechanism. */
  readonly secure: { readonly brokers: string; readonly password: string; readonly caFile: string };
}

const kafkaUser = 'durabill';

/** A certificate for 127.0.0.1 that nobody knows but who is given `caFile`. */
async function makeCertificate(folder: string, java: string, signal: AbortSignal) {
  const keytool = join(dirname(java), 'keytool');
  const [keystore, password] = [join(folder, 'keystore.p12'), randomBytes(12).toString('hex')];
  const store = ['-alias', 'kafka', '-keystore', keystore, '-storepass', password];
  const names = ['-dname', 'CN=Kafka of the tests', '-ext', 'san=dns:localhost,ip:127.0.0.1'];
  const kind = ['-keyalg', 'EC', '-groupname', 'secp256r1', '-validity', '2'];
  const at = { cwd: folder, signal };
  await runProgram(keytool, ['-genkeypair', ...store, ...kind, ...names], at);
  const caFile = join(folder, 'ca.pem');
  await runProgram(keytool, ['-exportcert', '-rfc', '-file', caFile, ...store], at);
  return { keystore, password, caFile };
}

/** What the way in with TLS and passwords is configured by. */
function secureProperties(password: string, keystore: string, keystorePassword: string) {
  const jaas = (module: string, options = ''): string =>
    `org.apache.kafka.common.security.${module} required${options};`;
  return {
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    'listener.name.secure.plain.sasl.jaas.config': jaas(
      'plain.PlainLoginModule',
      ` user_${kafkaUser}="${password}"`,
    ),
    'listener.name.secure.scram-sha-512.sasl.jaas.config': jaas('scram.ScramLoginModule'),
    'listener.name.secure.ssl.keystore.type': 'PKCS12',
    'listener.name.secure.ssl.keystore.location': keystore,
    'listener.name.secure.ssl.keystore.password': keystorePassword,
    'listener.name.secure.ssl.key.password': keystorePassword,
  };
}

/** One broker in KRaft mode, which is its own controller. */
export async function startKafka(folder: string, fetching: Fetching): Promise<KafkaServer> {
  const [java, libs] = [await findJava(fetching), await findKafka(fetching)];
  const { signal, tell } = fetching;
  await mkdir(folder, { recursive: true });
  const [port, secure] = [await freePort(), await freePort()];
  const [controller, far, near] = [await freePort(), await freePort(), await freePort()];
  const password = randomBytes(12).toString('hex');
  const certificate = await makeCertificate(folder, java, signal);
  const at = (of: number): string => `127.0.0.1:${of}`;
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${at(controller)}`,
    listeners: [
      `PLAINTEXT://${at(port)}`,
      `CABLE://${at(far)}`,
      `CONTROLLER://${at(controller)}`,
      `SECURE://${at(secure)}`,
    ].join(','),
    'advertised.listeners': `PLAINTEXT://${at(port)},CABLE://${at(near)},SECURE://localhost:${secure}`,
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,CABLE:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL',
    ...secureProperties(password, certificate.keystore, certificate.password),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
  };
  const config = join(folder, 'server.properties');
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(config, lines.join(''));
  const classes = ['-cp', `${libs}/*`];
  const tool = [...classes, 'kafka.tools.StorageTool'];
  const printed = await runProgram(java, [...tool, 'random-uuid'], { cwd: folder, signal });
  const id = printed.split('\n').at(-1) ?? '';
  const scram = ['--add-scram', `SCRAM-SHA-512=[name=${kafkaUser},password=${password}]`];
  await runProgram(java, [...tool, 'format', '-t', id, '-c', config, ...scram], {
    cwd: folder,
    signal,
  });
  const memory = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const server = await keep(
    {
      name: 'Kafka',
      program: java,
      folder,
      signal,
      args: [...memory, ...classes, 'kafka.Kafka', config],
      isReady: () => isOpen(port),
    },
    tell,
  );
  return {
    ...server,
    brokers: at(port),
    cable: `${near}:${far}`,
    secure: { brokers: `localhost:${secure}`, password, caFile: certificate.caFile },
  };
}

/** Registers a namespace, and resolves when workflows can be started in it. */
export async function makeNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService
      .registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: msToTs('1 day'),
      })
      .catch((error: unknown) => {
        if (!/already exists/i.test(String(error))) throw error;
      });
    for (let tries = 0; ; tries += 1) {
      const isKnown = await connection.workflowService.listWorkflowExecutions({ namespace }).then(
        () => true,
        () => false,
      );
      if (isKnown) return;
      if (tries > 300) throw new StartupError(`Temporal does not show the namespace ${namespace}.`);
      await wait(100);
    }
  } finally {
    await connection.close();
  }
}

async function makeSchemas(sql: string, databaseUrl: string, signal: AbortSignal): Promise<void> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  for (const [database, schema] of [
    ['temporal', 'postgresql/v12/temporal'],
    ['temporal_visibility', 'postgresql/v12/visibility'],
  ] as const) {
    const common = [
      '--plugin',
      'postgres12',
      '--endpoint',
      hostname,
      '--port',
      port,
      '--user',
      username,
      '--database',
      database,
    ];
    const options = { cwd: '/', signal, env: { SQL_PASSWORD: decodeURIComponent(password) } };
    await runProgram(sql, [...common, 'create-database'], options);
    await runProgram(sql, [...common, 'setup-schema', '-v', '0.0'], options);
    await runProgram(sql, [...common, 'update-schema', '--schema-name', schema], options);
  }
}

async function temporalConfig(databaseUrl: string, folder: string, port: number): Promise<string> {
  const { host, username, password } = new URL(databaseUrl);
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user: username,
      password: decodeURIComponent(password),
      maxConns: 15,
      maxIdleConns: 15,
      maxConnLifetime: '1h',
    },
  });
  const service = async (grpcPort: number) => ({
    rpc: { grpcPort, membershipPort: await freePort(), bindOnIP: '127.0.0.1' },
  });
  await copyFile(
    join(repository, 'deploy', 'temporal-dynamic-config.yaml'),
    join(folder, 'dynamic-config.yaml'),
  );
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 512,
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await service(port),
      history: await service(await freePort()),
      matching: await service(await freePort()),
      worker: await service(await freePort()),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${port}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: join(folder, 'dynamic-config.yaml'), pollInterval: '60s' },
  };
  const path = join(folder, 'temporal.yaml');
  // Every JSON text is YAML.
  await writeFile(path, JSON.stringify(config, null, 2), { mode: 0o600 });
  return path;
}

export interface TemporalServer extends SupervisedServer {
  readonly address: string;
}

/** Temporal's server, all four services in one process, on this PostgreSQL, with 512 shards. */
export async function startTemporal(
  folder: string,
  databaseUrl: string,
  fetching: Fetching,
): Promise<TemporalServer> {
  const { signal, tell } = fetching;
  const programs = await findTemporalServer(fetching);
  await mkdir(folder, { recursive: true });
  await makeSchemas(join(programs, 'sql'), databaseUrl, signal);
  const port = await freePort();
  const config = await temporalConfig(databaseUrl, folder, port);
  const address = `127.0.0.1:${port}`;
  const server = await keep(
    {
      name: 'Temporal',
      program: join(programs, 'server'),
      folder,
      signal,
      args: ['--config-file', config, '--allow-no-auth', 'start'],
      isReady: () => isServing(address, port),
    },
    tell,
  );
  return { ...server, address };
}

async function isServing(address: string, port: number): Promise<boolean> {
  if (!(await isOpen(port))) return false;
  const connection = Connection.lazy({ address });
  try {
    await connection.withDeadline(Date.now() + 1_000, async () => {
      await connection.workflowService.listNamespaces({ pageSize: 1 });
    });
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
