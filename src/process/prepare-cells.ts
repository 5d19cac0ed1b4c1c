import type { Knex } from 'knex';
import pg from 'pg';
import { countTenantsByCell } from '../access/cells/tenant-cells.js';
import { homeCell } from '../platform/database/cell.js';
import type { CellConfig } from '../platform/config/config-database.js';
import { openOwner } from '../platform/database/owner.js';
import { requireSession } from '../platform/database/direct-address.js';
import {
  findLastMigration,
  listPendingMigrations,
  migrateDatabase,
  NewerDatabaseError,
  rollbackDatabase,
} from '../platform/database/migrations.js';
import { ensureLogin } from '../platform/database/service-role.js';
import { isUnavailable, sqlStateOf } from '../kernel/sql-state.js';
import { firstLine, StartupError } from '../platform/startup-error.js';

/** How long a cell has for an answer before it counts as away. */
const connectMs = 5_000;

/** The name and password of a login, as its address has them. */
export function credentialsOf(url: string): { name: string; password: string } {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** Whether a login owns the tables, or may create them because there are none yet. */
export async function ownsTables(url: string): Promise<boolean> {
  const db = openOwner(url);
  try {
    const { rows } = await db.raw<{ rows: { owns: boolean | null }[] }>(
      `select (select pg_has_role(current_user, relowner, 'usage') from pg_class
         where oid = to_regclass('public.tenant')) as owns`,
    );
    return rows[0]?.owns ?? true;
  } finally {
    await db.destroy();
  }
}

/**
 * Writes into a database which cell it is. Throws where it is another one: two addresses of `CELLS`
 * were exchanged, or one names the home database.
 */
export async function nameCell(db: Knex, name: string): Promise<void> {
  await db('cellIdentity').insert({ name }).onConflict('isOnly').ignore();
  const known = await db('cellIdentity').first<{ name: string }>('name');
  if (known.name === name) return;
  throw new StartupError(
    `The database at the address of '${name}' is the cell '${known.name}': ` +
      `${name === homeCell ? 'mend DATABASE_URL' : `mend the address of ${name} in CELLS`}.`,
  );
}

/** Why a server does not answer; undefined: it does. Throws where it answers and lets nobody in. */
async function absence({ name, url }: CellConfig): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    const isRefused = /^(28|3D|42)/.test(sqlStateOf(error));
    if (!isRefused || isUnavailable(error)) return firstLine(error);
    throw new StartupError(
      `Cannot use the cell '${name}' at ${new URL(url).host}: ${firstLine(error)}.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The owners of the tables by cell; processes move tenants with them. */
export function ownersOf(
  homeOwner: string | undefined,
  cells: readonly CellConfig[],
): ReadonlyMap<string, string> {
  const owners = new Map(
    cells.map(({ name, url, ownerUrl, directUrl }) => [name, ownerUrl ?? directUrl ?? url]),
  );
  if (homeOwner !== undefined) owners.set(homeCell, homeOwner);
  return owners;
}

/** What became of a cell in a preparation. */
export interface PreparedCell {
  readonly name: string;
  /** Migrations that ran. */
  readonly migrations: readonly string[];
  /** Why it does not answer; undefined: it does. */
  readonly absence: string | undefined;
}

/** The addresses of a cell for its owner, who may be the login of running processes. */
async function ownerOf(cell: CellConfig): Promise<string | undefined> {
  const { name, url, ownerUrl, directUrl } = cell;
  if (directUrl === undefined) {
    await requireSession(url, `the cell '${name}' in CELLS`, 'DIRECT_CELLS');
  }
  if (ownerUrl !== undefined) return ownerUrl;
  const direct = directUrl ?? url;
  return (await ownsTables(direct)) ? direct : undefined;
}

async function migrateCell(cell: CellConfig, onStep: (name: string) => void): Promise<string[]> {
  const { name, url } = cell;
  const owner = await ownerOf(cell);
  if (owner === undefined) {
    const pending = await listPendingMigrations(url);
    if (pending.length === 0) return [];
    throw new StartupError(
      `The cell '${name}' lacks ${pending.length} migrations, and its login in CELLS may not make ` +
        `them: run 'durabill migrate' with CELL_OWNERS first.`,
    );
  }
  const names = await migrateDatabase(owner, onStep);
  const db = openOwner(owner);
  try {
    await nameCell(db, name);
    const login = credentialsOf(url);
    if (login.name !== credentialsOf(owner).name) await ensureLogin(db, login.name, login.password);
  } finally {
    await db.destroy();
  }
  return names;
}

/**
 * Brings the cells to this version, each by itself. One that does not answer is left out: only its own
 * tenants need it, and it is checked again before anything is asked of it.
 */
export async function prepareCells(
  cells: readonly CellConfig[],
  onStep: (name: string) => void = () => undefined,
): Promise<PreparedCell[]> {
  const prepared: PreparedCell[] = [];
  for (const cell of cells) {
    const { name } = cell;
    const reason = await absence(cell);
    if (reason !== undefined) {
      prepared.push({ name, migrations: [], absence: reason });
      continue;
    }
    try {
      const migrations = await migrateCell(cell, (step) => onStep(`${name}: ${step}`));
      prepared.push({ name, migrations, absence: undefined });
    } catch (error) {
      if (!(error instanceof NewerDatabaseError)) throw error;
      throw new StartupError(`The cell '${name}' is ahead. ${error.message}`);
    }
  }
  return prepared;
}

/** The migrations that each cell lacks; writes nothing. */
export async function listPendingOfCells(cells: readonly CellConfig[]): Promise<PreparedCell[]> {
  return Promise.all(
    cells.map(async (cell) => {
      const { name, url, ownerUrl, directUrl } = cell;
      const reason = await absence(cell);
      const migrations =
        reason === undefined ? await listPendingMigrations(ownerUrl ?? directUrl ?? url) : [];
      return { name, migrations, absence: reason };
    }),
  );
}

/**
 * Takes back the last migration of the home database there and in the cells that have it last, the
 * home database last: a rollback that was interrupted goes on. All must answer.
 */
export async function rollbackCells(
  cells: readonly CellConfig[],
  homeOwner: string,
): Promise<{ readonly names: readonly string[]; readonly home: string | undefined }> {
  for (const cell of cells) {
    const reason = await absence(cell);
    if (reason === undefined) continue;
    throw new StartupError(
      `The cell '${cell.name}' does not answer (${reason}): nothing is taken back.`,
    );
  }
  const last = await findLastMigration(homeOwner);
  const names: string[] = [];
  for (const { name, url, ownerUrl, directUrl } of cells) {
    const owner = ownerUrl ?? directUrl ?? url;
    if ((await findLastMigration(owner)) !== last) continue;
    await rollbackDatabase(owner);
    names.push(`${name}: ${last ?? ''}`);
  }
  return { names, home: await rollbackDatabase(homeOwner) };
}

/** Throws where tenants are in a cell that `CELLS` does not name. */
export async function requireKnownCells(
  homeUrl: string,
  cells: readonly { readonly name: string }[],
): Promise<void> {
  const db = openOwner(homeUrl);
  try {
    const counts = await db.transaction(async (trx) => {
      await trx.raw(`select set_config('app.tenant_id', '*', true)`);
      return countTenantsByCell(trx);
    });
    const known = new Set(cells.map(({ name }) => name));
    const [name, count] = [...counts].find(([cell]) => !known.has(cell)) ?? [];
    if (name === undefined) return;
    throw new StartupError(
      `${count} tenants are in the cell '${name}', which CELLS does not name: ` +
        `add ${name}=postgres://… to CELLS.`,
    );
  } finally {
    await db.destroy();
  }
}
