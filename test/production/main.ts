/**
 * `npm run test:production`: starts PostgreSQL, a Temporal server on PostgreSQL and Kafka natively,
 * runs on them the tests that also run on the embedded parts, and those of several processes.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { readConfig } from '../../src/platform/config/config.js';
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.js';
import { firstLine, StartupError } from '../../src/platform/startup-error.js';
import type { SupervisedServer } from '../../src/embedded/supervise.js';
import { repository } from '../start/workbench.js';
import { makeNamespace, startKafka, startTemporal } from './servers.js';

const defaultFiles = [
  'test/production/*.test.ts',
  'test/broker/*.test.ts',
  'test/scenario/*.test.ts',
  'test/isolation/*.test.ts',
  'test/fault/*.test.ts',
];

const since = Date.now();
const tell = (text: string): void => {
  const seconds = ((Date.now() - since) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`production ${seconds} s: ${text}\n`);
};

type Environment = Record<string, string>;

/** Starts the parts, one after the other; each is in `started` as soon as it runs. */
async function startParts(
  folder: string,
  started: SupervisedServer[],
  signal: AbortSignal,
): Promise<Environment> {
  const { cacheDir, searchPath } = readConfig(process.env);
  const fetching = { cacheDir, searchPath, tell, signal };
  const keep = <T extends SupervisedServer>(server: T): T => {
    started.push(server);
    return server;
  };
  const postgres = keep(
    await startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      cacheDir,
      onWarning: tell,
      settings: { max_connections: '300' },
    }),
  );
  tell(`PostgreSQL answers at ${new URL(postgres.url).host}`);
  const temporal = keep(await startTemporal(join(folder, 'temporal'), postgres.url, fetching));
  await makeNamespace(temporal.address, 'default');
  tell(`Temporal answers at ${temporal.address}`);
  const kafka = keep(await startKafka(join(folder, 'kafka'), fetching));
  tell(`Kafka answers at ${kafka.brokers}`);
  return {
    TEST_DATABASE_URL: postgres.url,
    TEST_TEMPORAL_ADDRESS: temporal.address,
    TEST_KAFKA_BROKERS: kafka.brokers,
    TEST_KAFKA_CABLE: kafka.cable,
    TEST_KAFKA_SECURE: JSON.stringify(kafka.secure),
    TEST_SERVERS_FOLDER: folder,
  };
}

/** Mocha's exit code, and its closing line, which is held back to be the last. */
async function runTests(
  files: readonly string[],
  env: Environment,
  { grep, signal }: { readonly grep: string | undefined; readonly signal: AbortSignal },
): Promise<{ code: number; closing: string }> {
  const mocha = join(repository, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const args = [mocha, ...(grep === undefined ? [] : ['--grep', grep]), ...files];
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  signal.addEventListener('abort', stop, { once: true });
  let closing = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const text = closing + chunk.toString();
    const start = text.search(/\d+ passed, \d+ failed\n$/);
    closing = start === -1 ? '' : text.slice(start);
    process.stdout.write(start === -1 ? text : text.slice(0, start));
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  });
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  return { code, closing: closing === '' ? '0 passed, 1 failed\n' : closing };
}

/** The exit code. The last line printed is `N passed, N failed`. */
async function main(files: readonly string[], grep: string | undefined): Promise<number> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => stop.abort(new StartupError(`${name}: stopping everything`)));
  }
  const folder = await mkdtemp(join(tmpdir(), 'durabill-production-'));
  const started: SupervisedServer[] = [];
  let result = { code: 1, closing: '0 passed, 1 failed\n' };
  try {
    const env = await startParts(folder, started, stop.signal);
    result = await runTests(files, env, { grep, signal: stop.signal });
  } catch (error) {
    tell(error instanceof StartupError ? error.message : `failed: ${firstLine(error)}`);
  }
  tell('stopping the servers');
  for (const server of started.reverse()) await server.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  process.stdout.write(result.closing);
  return result.code;
}

const program = new Command('npm run test:production --')
  .description(
    'Runs tests on a PostgreSQL server, a Temporal server on PostgreSQL and Apache Kafka, all started ' +
      'natively and stopped at the end. Needs Go 1.26 (the Temporal server is built once, which takes ' +
      '10 minutes on two cores), Java 17 and Maven; what was fetched is kept in the cache folder.',
  )
  .argument('[files...]', 'test files to run', defaultFiles)
  .option('--grep <pattern>', 'only tests whose name matches')
  .action(async (files: string[], { grep }: { grep?: string }) => {
    process.exitCode = await main(files, grep);
  });
await program.parseAsync();
process.exit();
