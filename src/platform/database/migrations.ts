import { fileURLToPath } from 'node:url';
import knex, { type Knex } from 'knex';
import { grantService } from './service-role.js';

/** What knex offers and its types leave out. */
interface MigrationHooks {
  lifecycle: { beforeAll: (db: unknown, pending: { file: string }[]) => Promise<void> };
}

/** Thrown when the database was written by a newer version of Durabill. */
export class NewerDatabaseError extends Error {
  constructor(migration: string) {
    super(
      `The database was migrated by a newer version of Durabill (${migration}); start that version, or restore an older backup.`,
    );
    this.name = 'NewerDatabaseError';
  }
}

/**
 * Below row-level security an index only serves comparisons that are leakproof, and only a superuser
 * can say that `ilike` and the text of JSON are (docs/decisions/0079, 0150). Not a migration: a dump
 * does not hold it.
 */
const allowIndexedSearch = `
  do $$ declare
    trusted regprocedure;
  begin
    for trusted in select oid from pg_proc where not proleakproof and oid in (
      'pg_catalog.texticlike(text,text)'::regprocedure,
      'pg_catalog.jsonb_out(jsonb)'::regprocedure, 'pg_catalog.textin(cstring)'::regprocedure
    ) and exists (select from pg_roles where rolname = current_user and rolsuper) loop
      execute format('alter function %s leakproof', trusted);
    end loop;
  end $$`;

const options: Knex.MigratorConfig = {
  directory: fileURLToPath(new URL('../../../migrations', import.meta.url)),
  loadExtensions: ['.js'],
};

/** Migrations that this version has and the database has not; writes nothing. */
export async function listPendingMigrations(databaseUrl: string): Promise<string[]> {
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 1 } });
  try {
    const [, pending] = (await db.migrate.list(options)) as [unknown, { file: string }[]];
    return pending.map(({ file }) => file);
  } finally {
    await db.destroy();
  }
}

/**
 * Brings the schema up to this version; safe to call from several processes at once, because knex
 * locks its table of migrations. Returns the names of the migrations that ran.
 */
export async function migrateDatabase(
  databaseUrl: string,
  onStep: (name: string) => void = () => undefined,
): Promise<string[]> {
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 2 } });
  try {
    const watched: Knex.MigratorConfig & MigrationHooks = {
      ...options,
      lifecycle: {
        beforeAll: (_db, pending) => {
          for (const migration of pending) onStep(migration.file);
          return Promise.resolve();
        },
      },
    };
    const [, names] = (await db.migrate.latest(watched)) as [number, string[]];
    await db.raw(allowIndexedSearch);
    await grantService(db);
    return names;
  } catch (error) {
    const missing = /migration directory is corrupt.*missing: (.*)/s.exec(String(error));
    if (missing?.[1]) throw new NewerDatabaseError(missing[1]);
    throw error;
  } finally {
    await db.destroy();
  }
}
