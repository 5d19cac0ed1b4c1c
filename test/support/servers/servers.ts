import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../../src/platform/config/config.js';
import type { KafkaSettings } from '../../../src/adapters/kafka/kafka-broker.js';
import { migrateDatabase } from '../../../src/platform/database/migrations.js';
import { openServers } from './open-servers.js';
import type { TemporalServer } from '../../../src/platform/configured-servers.js';
import { hasPooler } from './pooled-tests.js';
import { startPooler } from './pooler.js';

/** Plain data, so that one process can tell it to another. */
interface TestServers {
  readonly databaseUrl: string;
  readonly temporal: TemporalServer;
  /** Where usage streams through; undefined: PostgreSQL. */
  readonly kafka: KafkaSettings | undefined;
  /** Of the PgBouncer that is between the product and PostgreSQL in tests that ask for it; undefined: in none. */
  readonly poolerPort: number | undefined;
}

/** The variable by which a process tells the tests that it starts which servers they share. */
const shared = 'TEST_SERVERS';

let known: Promise<TestServers> | undefined;
let stopOwn: (() => Promise<void>) | undefined;

const template = 'durabill_template';

const databaseUrl = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
};

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** No test is about a loss of power here: the server need not wait for the disk, as the product's own does. */
const withoutDisk = [
  'alter system set fsync = off',
  'alter system set full_page_writes = off',
  'select pg_reload_conf()',
];

/**
 * What the servers of this run are: embedded ones, or those that `npm run test:production` has started.
 * Names of their own, so that nobody's own DATABASE_URL is ever used for tests.
 */
export function testEnvironment(dataDir: string): Record<string, string | undefined> {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  return {
    PATH,
    HOME,
    XDG_CACHE_HOME,
    DATA_DIR: dataDir,
    DATABASE_URL: process.env['TEST_DATABASE_URL'],
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'],
    KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'],
  };
}

async function startServers(): Promise<TestServers> {
  const dataDir = await mkdtemp(join(tmpdir(), 'durabill-test-'));
  const config = readConfig(testEnvironment(dataDir));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  const servers = await openServers(config, {
    onProgress: (text) => process.stderr.write(`test servers: ${text}\n`),
  }).catch(async (error: unknown) => {
    await removeData();
    throw error;
  });
  const stopServers = async (): Promise<void> => {
    try {
      await servers.stop();
    } finally {
      await removeData();
    }
  };
  stopOwn = stopServers;
  await execute(
    servers.databaseUrl,
    ...(config.databaseUrl === undefined ? withoutDisk : []),
    `drop database if exists ${template}`,
    `create database ${template}`,
  );
  await migrateDatabase(databaseUrl(servers.databaseUrl, template));
  const pooler = hasPooler() ? await startPooler(servers.databaseUrl, { poolSize: 8 }) : undefined;
  stopOwn = async () => {
    await pooler?.stop();
    await stopServers();
  };
  return {
    databaseUrl: servers.databaseUrl,
    temporal: servers.temporal,
    kafka: config.kafka,
    poolerPort: pooler?.port,
  };
}

/** The real PostgreSQL and Temporal of this run, started when the first asks. */
export function testServers(): Promise<TestServers> {
  const told = process.env[shared];
  known ??= told === undefined ? startServers() : Promise.resolve(JSON.parse(told) as TestServers);
  return known;
}

/** Starts them for the processes that this one starts, too. */
export async function shareTestServers(): Promise<void> {
  process.env[shared] = JSON.stringify(await testServers());
}

/** Databases that tests of this process have made. */
const made = new Set<string>();

async function createDatabase(from = ''): Promise<string> {
  const servers = await testServers();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(servers.databaseUrl, `create database ${name} ${from}`);
  made.add(name);
  return databaseUrl(servers.databaseUrl, name);
}

/** A migrated, empty database of its own: copied from the template in milliseconds. */
export const createTestDatabase = (): Promise<string> =>
  createDatabase(`template ${template} strategy file_copy`);

/** A database of its own in which nothing is yet. */
export const createEmptyDatabase = (): Promise<string> => createDatabase();

/** Those of them that are still used when the tests of a file are over. */
const kept = new Set<string>();

/** Says whether a database that tests have made is still used when the tests of a file are over. */
export function keepTestDatabase(url: string, isKept: boolean): void {
  const name = new URL(url).pathname.slice(1);
  if (isKept) kept.add(name);
  else kept.delete(name);
}

/** Removes the databases of tests that are over: the server would go on looking after hundreds of them. */
export async function dropTestDatabases(): Promise<void> {
  const names = [...made].filter((name) => !kept.has(name));
  if (names.length === 0) return;
  for (const name of names) made.delete(name);
  const { databaseUrl: url } = await testServers();
  await execute(url, ...names.map((name) => `drop database if exists ${name} with (force)`));
}

/** Stops what this process has started. */
export async function stopTestServers(): Promise<void> {
  await known?.catch(() => undefined);
  await stopOwn?.();
}
