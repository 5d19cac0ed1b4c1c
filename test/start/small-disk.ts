import { execFileSync } from 'node:child_process';
import { mkdir, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { makeFolder } from './workbench.js';

/** A place for data that can be made full, and empty again. */
export interface SmallDisk {
  /** How it is done here, for people. */
  readonly way: string;
  /** The data folder of a product; undefined: any. */
  readonly folder: string | undefined;
  fill(databaseUrl: string): Promise<void>;
  makeRoom(databaseUrl: string): Promise<void>;
  remove(): Promise<void>;
}

const mebibytes = 512;

/** A file system in memory, which only root may mount, and only on Linux. */
async function mountDisk(): Promise<SmallDisk | undefined> {
  const root = await makeFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'tmpfs', root], {
      stdio: 'ignore',
    });
  } catch {
    await rmdir(root);
    return undefined;
  }
  const folder = join(root, 'data');
  const ballast = join(root, 'ballast');
  await mkdir(folder, { mode: 0o700 });
  return {
    way: `a file system of ${mebibytes} MiB, filled to the last byte`,
    folder,
    async fill() {
      const { bavail, bsize } = await statfs(root);
      await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(() => undefined);
    },
    makeRoom: () => rm(ballast),
    async remove() {
      // At once, though a server of the product may still be about to end.
      execFileSync('umount', ['--lazy', root]);
      await rmdir(root);
    },
  };
}

const tables = ['account', 'broker_partition', 'usage_event'];

async function execute(databaseUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** PostgreSQL says what it says when it is full, without being so. */
const pretended: SmallDisk = {
  way: 'no file system could be mounted: triggers raise the error of a full disk (53100) instead',
  folder: undefined,
  fill: (databaseUrl) =>
    execute(databaseUrl, [
      `create function test_disk_full() returns trigger language plpgsql as $$
         begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$`,
      ...tables.map(
        (table) =>
          `create trigger test_disk_full before insert or update on ${table}
           for each statement execute function test_disk_full()`,
      ),
    ]),
  makeRoom: (databaseUrl) => execute(databaseUrl, ['drop function test_disk_full cascade']),
  remove: () => Promise.resolve(),
};

/** A real small disk where the data are ours and it can be mounted, else the errors of one. */
export async function smallDisk(): Promise<SmallDisk> {
  const isExternal = process.env['TEST_DATABASE_URL'] !== undefined;
  return (isExternal ? undefined : await mountDisk()) ?? pretended;
}
