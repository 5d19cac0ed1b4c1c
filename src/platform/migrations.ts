import { fileURLToPath } from 'node:url';
import knex, { type Knex } from 'knex';

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
    const options: Knex.MigratorConfig & MigrationHooks = {
      directory: fileURLToPath(new URL('../../migrations', import.meta.url)),
      loadExtensions: ['.js'],
      lifecycle: {
        beforeAll: (_db, pending) => {
          for (const migration of pending) onStep(migration.file);
          return Promise.resolve();
        },
      },
    };
    const [, names] = (await db.migrate.latest(options)) as [number, string[]];
    await db.raw(allowIndexedSearch);
    return names;
  } catch (error) {
    const missing = /migration directory is corrupt.*missing: (.*)/s.exec(String(error));
    if (missing?.[1]) throw new NewerDatabaseError(missing[1]);
    throw error;
  } finally {
    await db.destroy();
  }
}
