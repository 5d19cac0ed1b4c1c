import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../../src/embedded/embedded-postgres.js';
import { readConfig } from '../../../src/platform/config/config.js';
import { migrateDatabase } from '../../../src/platform/database/migrations.js';
import { openOwner } from '../../../src/platform/database/owner.js';
import { nameCell } from '../../../src/process/prepare-cells.js';
import type { CellServer } from '../../../src/process/platform.js';
import { createTestDatabase, testEnvironment } from './servers.js';

/** Writes into a database which cell it is. */
export async function nameDatabase(databaseUrl: string, name: string): Promise<void> {
  const db = openOwner(databaseUrl);
  try {
    await nameCell(db, name);
  } finally {
    await db.destroy();
  }
}

/** A cell that is a database of its own in the server of this run. */
export async function createTestCell(name: string): Promise<CellServer> {
  const url = await createTestDatabase();
  await nameDatabase(url, name);
  return { name, url };
}

/** A cell that is a PostgreSQL server of its own, which a test can stop and start again. */
export interface StoppableCell extends CellServer {
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it for good. */
  remove(): Promise<void>;
}

export async function startTestCell(name: string): Promise<StoppableCell> {
  const dataDir = await mkdtemp(join(tmpdir(), 'durabill-cell-'));
  const { cacheDir } = readConfig(testEnvironment(dataDir));
  const settings = { shared_buffers: '32MB', fsync: 'off', wal_level: 'logical' };
  const launch = () => startEmbeddedPostgres({ dataDir, cacheDir, settings });
  let server = await launch();
  await migrateDatabase(server.url);
  await nameDatabase(server.url, name);
  const stop = () => server.stop();
  return {
    name,
    url: server.url,
    stop,
    async start() {
      server = await launch();
    },
    async remove() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
