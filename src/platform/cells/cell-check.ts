import { readdir } from 'node:fs/promises';
import { sqlState, sqlStateOf } from '../../kernel/sql-state.js';
import { migrationsDirectory } from '../database/migrations.js';
import type { PooledConnection } from '../database/tenant-entrance.js';
import { CellRefusedError } from './cell-errors.js';

interface CellFacts {
  /** What the database calls itself; null: nobody has named it. */
  readonly name: string | null;
  readonly migrations: readonly string[];
}

const factsSql = `select (select name from cell_identity) as name,
  array(select name from knex_migrations order by id) as migrations`;

let known: Promise<readonly string[]> | undefined;

/** The migrations of this version, in their order. */
async function listMigrations(): Promise<readonly string[]> {
  const names = await readdir(migrationsDirectory);
  return names.filter((name) => name.endsWith('.js')).sort();
}

async function readFacts(connection: PooledConnection): Promise<CellFacts> {
  try {
    const { rows } = (await connection.query(factsSql)) as { rows: CellFacts[] };
    return rows[0] ?? { name: null, migrations: [] };
  } catch (error) {
    if (sqlStateOf(error) !== sqlState.unknownTable) throw error;
    return { name: null, migrations: [] };
  }
}

/**
 * Throws unless the server of a connection is the cell of that name and has every migration of this
 * version. It may have more: a newer version migrates cells while this one serves.
 */
export async function checkCell(name: string, connection: PooledConnection): Promise<void> {
  const facts = await readFacts(connection);
  known ??= listMigrations();
  const missing = (await known).filter((each) => !facts.migrations.includes(each));
  if (missing.length > 0) {
    throw new CellRefusedError(
      `The database of the cell '${name}' lacks ${missing.length} migrations: run 'durabill migrate'.`,
    );
  }
  if (facts.name === name) return;
  throw new CellRefusedError(
    facts.name === null
      ? `The database of the cell '${name}' has not been made a cell: run 'durabill migrate'.`
      : `The address of the cell '${name}' leads to the cell '${facts.name}': mend CELLS or DATABASE_URL.`,
  );
}
