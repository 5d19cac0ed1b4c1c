import { fileURLToPath } from 'node:url';
import knex from 'knex';
import {
  NewerDatabaseError,
  readMigrationState,
  rollbackLastMigration,
  runPendingMigrations,
} from './run-migrations.js';
import { grantService } from './service-role.js';

export { NewerDatabaseError };

/**
 * Under row-level security an index is used only for leakproof operators, and only a superuser can
 * declare `ilike` and the text of JSON leakproof (docs/decisions/0079, 0150). Not a migration,
 * since a dump does not contain it.
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

/** The folder of the migrations of this version. */
export const migrationsDirectory = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** Migrations that this version has and the database has not; writes nothing. */
export async function listPendingMigrations(databaseUrl: string): Promise<readonly string[]> {
  return (await readMigrationState(databaseUrl, migrationsDirectory)).pending;
}

/** The migration that ran last; undefined: none has. */
export async function findLastMigration(databaseUrl: string): Promise<string | undefined> {
  return (await readMigrationState(databaseUrl, migrationsDirectory)).done.at(-1);
}

/**
 * Brings the schema up to this version; safe to call from several processes at once, which do it one
 * after the other. Returns the names of the migrations that ran.
 */
export async function migrateDatabase(
  databaseUrl: string,
  onStep?: (name: string) => void,
): Promise<string[]> {
  const names = await runPendingMigrations(databaseUrl, {
    directory: migrationsDirectory,
    onStep,
  });
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 1 } });
  try {
    await db.raw(allowIndexedSearch);
    await grantService(db);
    return names;
  } finally {
    await db.destroy();
  }
}

/** Takes back the migration that ran last, and returns its name; undefined: there is none. */
export const rollbackDatabase = (databaseUrl: string): Promise<string | undefined> =>
  rollbackLastMigration(databaseUrl, { directory: migrationsDirectory });
