import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../src/platform/config.js';
import { migrateDatabase } from '../../src/platform/migrations.js';
import { openServers, type Servers } from '../../src/platform/servers.js';

interface TestServers extends Servers {
  readonly templateUrl: string;
  readonly dataDir: string;
}

let starting: Promise<TestServers> | undefined;

const template = 'durabill_template';

const databaseUrl = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
};

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function startServers(): Promise<TestServers> {
  const dataDir = await mkdtemp(join(tmpdir(), 'durabill-test-'));
  const config = readConfig({
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
    DATA_DIR: dataDir,
  });
  const servers = await openServers(config, {
    onProgress: (text) => process.stderr.write(`test servers: ${text}\n`),
  });
  await execute(servers.databaseUrl, `create database ${template}`);
  const templateUrl = databaseUrl(servers.databaseUrl, template);
  await migrateDatabase(templateUrl);
  return { ...servers, templateUrl, dataDir };
}

/** The real PostgreSQL and Temporal of this run, started when the first test asks. */
export function testServers(): Promise<TestServers> {
  starting ??= startServers();
  return starting;
}

/** A migrated, empty database of its own: copied from the template in milliseconds. */
export async function createTestDatabase(): Promise<string> {
  const servers = await testServers();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(servers.databaseUrl, `create database ${name} template ${template}`);
  return databaseUrl(servers.databaseUrl, name);
}

export async function stopTestServers(): Promise<void> {
  const servers = await starting?.catch(() => undefined);
  await servers?.stop();
  if (servers) await rm(servers.dataDir, { recursive: true, force: true });
}
