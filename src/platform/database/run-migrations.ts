import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import knex, { type Knex } from 'knex';
import { sqlState, sqlStateOf } from '../../kernel/sql-state.js';

/** Thrown when the database was written by a newer version of Durabill. */
export class NewerDatabaseError extends Error {
  constructor(migration: string) {
    super(
      `The database was migrated by a newer version of Durabill (${migration}); start that version, or restore an older backup.`,
    );
    this.name = 'NewerDatabaseError';
  }
}

export interface MigrationRun {
  /** The folder of the migrations. */
  readonly directory: string;
  /** Called before each migration with its name. */
  readonly onStep?: ((name: string) => void) | undefined;
  /**
   * Lock timeout of a migration. While it waits, all later statements on the table queue behind it,
   * even reads: it gives up and retries instead.
   */
  readonly lockTimeoutMs?: number;
  /** How often a migration is tried that got no lock. */
  readonly attempts?: number;
}

interface MigrationModule {
  /** `transaction: false`: for indexes that are made concurrently. */
  readonly config?: { readonly transaction?: boolean };
}

/** Which migrations a database has, in the order in which they ran, and which it lacks. */
export interface MigrationState {
  readonly done: readonly string[];
  readonly pending: readonly string[];
}

const betweenAttemptsMs = 1_000;
const betweenLooksMs = 100;

const openConnection = (databaseUrl: string): Knex =>
  knex({ client: 'pg', connection: databaseUrl, pool: { min: 1, max: 1 } });

async function withDatabase<T>(databaseUrl: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const db = openConnection(databaseUrl);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function stateOf(db: Knex, directory: string): Promise<MigrationState> {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.js')).sort();
  const table = await db.raw<{ rows: { exists: boolean }[] }>(
    `select to_regclass('knex_migrations') is not null as exists`,
  );
  if (table.rows[0]?.exists !== true) return { done: [], pending: files };
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    'select name from knex_migrations order by id',
  );
  const done = rows.map(({ name }) => name);
  const unknown = done.find((name) => !files.includes(name));
  if (unknown !== undefined) throw new NewerDatabaseError(unknown);
  return { done, pending: files.filter((name) => !done.includes(name)) };
}

/** Which migrations a database has and lacks; writes nothing. */
export function readMigrationState(
  databaseUrl: string,
  directory: string,
): Promise<MigrationState> {
  return withDatabase(databaseUrl, (db) => stateOf(db, directory));
}

/**
 * One process migrates at a time. The advisory lock belongs to the session, so it is released when
 * its process dies. It is polled, not waited for: building an index concurrently waits for all
 * running statements, and would deadlock with one that waits for this lock.
 */
async function lockMigrations(db: Knex): Promise<void> {
  for (;;) {
    const { rows } = await db.raw<{ rows: { locked: boolean }[] }>(
      `select pg_try_advisory_lock(hashtext('durabill'), hashtext('migrations')) as locked`,
    );
    if (rows[0]?.locked === true) break;
    await sleep(betweenLooksMs);
  }
  // knex has a lock of its own, in a table; if it is held now, its process has died.
  await db.raw(`do $$ begin
    if to_regclass('knex_migrations_lock') is not null then
      update knex_migrations_lock set is_locked = 0 where is_locked <> 0;
    end if;
  end $$`);
}

const optionsOf = (directory: string): Knex.MigratorConfig => ({
  directory,
  loadExtensions: ['.js'],
});

/** Runs one migration, up or down, in the transaction that also records it. */
async function runMigration(
  db: Knex,
  { directory, lockTimeoutMs = 5_000, attempts = 10 }: MigrationRun,
  name: string,
  way: 'up' | 'down',
): Promise<void> {
  const config: Knex.MigratorConfig = { ...optionsOf(directory), name };
  const file = pathToFileURL(join(directory, name)).href;
  const { config: own } = (await import(file)) as MigrationModule;
  if (own?.transaction === false) {
    // A concurrent index build blocks nobody while it waits, so it needs no lock timeout.
    await db.raw('set lock_timeout = 0');
    await db.migrate[way](config);
    return;
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      await db.transaction(async (trx) => {
        await trx.raw(`set local lock_timeout = ${lockTimeoutMs}`);
        await trx.migrate[way](config);
      });
      return;
    } catch (error) {
      if (sqlStateOf(error) !== sqlState.lockNotAvailable) throw error;
      if (attempt >= attempts) {
        throw new Error(
          `${name} got no lock in ${attempts} attempts of ${lockTimeoutMs} ms: another session holds a ` +
            `table for longer (pg_stat_activity shows which). Nothing of it is done; try again.`,
          { cause: error },
        );
      }
      await sleep(betweenAttemptsMs);
    }
  }
}

/**
 * Runs pending migrations, oldest first, and returns their names. Each is committed by itself, so
 * that no lock is held longer than its own statements. In an empty database nobody waits, and all
 * run in one transaction.
 */
export function runPendingMigrations(databaseUrl: string, run: MigrationRun): Promise<string[]> {
  return withDatabase(databaseUrl, async (db) => {
    await lockMigrations(db);
    const { done, pending } = await stateOf(db, run.directory);
    if (done.length === 0) {
      pending.forEach((name) => run.onStep?.(name));
      await db.migrate.latest(optionsOf(run.directory));
      return [...pending];
    }
    for (const name of pending) {
      run.onStep?.(name);
      await runMigration(db, run, name, 'up');
    }
    return [...pending];
  });
}

/** Takes back the migration that ran last. */
export function rollbackLastMigration(
  databaseUrl: string,
  run: MigrationRun,
): Promise<string | undefined> {
  return withDatabase(databaseUrl, async (db) => {
    await lockMigrations(db);
    const { done } = await stateOf(db, run.directory);
    const last = done.at(-1);
    if (last === undefined) return undefined;
    run.onStep?.(last);
    await runMigration(db, run, last, 'down');
    return last;
  });
}
