import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Database } from '../../platform/database/database.js';
import { countTenants } from './tenant-cells.js';

/** A cell as its operator sees it. */
export interface ListedCell {
  readonly name: string;
  readonly tenants: number;
  /** Since when no tenant is placed in it; null: tenants are. */
  readonly drainingSince: Date | null;
  /** Why it cannot be used; null: it can. */
  readonly fault: string | null;
}

interface CellRow {
  readonly name: string;
  readonly drainingSince: Date | null;
}

/** Whether a cell answers, is the one that it is taken for and has this version's migrations. */
async function faultOf(cell: Cell): Promise<string | null> {
  try {
    await cell.ping();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The cells of `CELLS`, the home database first. */
export async function listCells({ home, cells }: Database): Promise<ListedCell[]> {
  const [tenants, rows] = await Promise.all([
    countTenants(home.platform, home.name),
    home.platform('cell').select<CellRow[]>('name', 'drainingSince'),
  ]);
  return Promise.all(
    cells.map(async (cell) => ({
      name: cell.name,
      tenants: tenants.get(cell.name) ?? 0,
      drainingSince: rows.find(({ name }) => name === cell.name)?.drainingSince ?? null,
      fault: await faultOf(cell),
    })),
  );
}

/** Lets tenants be placed in a cell, from now on or again. */
export async function openCell(home: Knex, name: string): Promise<void> {
  await home('cell').insert({ name }).onConflict('name').merge({ drainingSince: null });
}

/** Places no tenants in a cell any more; those that are there stay until they are moved. */
export async function drainCell(home: Knex, name: string): Promise<void> {
  await home('cell')
    .insert({ name, drainingSince: new Date() })
    .onConflict('name')
    .merge({ drainingSince: home.raw('coalesce(cell.draining_since, excluded.draining_since)') });
}

/** 400: no tenant is placed in the cell any more. */
export async function refuseDraining(home: Knex, name: string): Promise<void> {
  const row = await home('cell').where({ name }).first<CellRow | undefined>('drainingSince');
  if (row === undefined || row.drainingSince === null) return;
  throw problem.validation(
    `The cell '${name}' is drained since ${row.drainingSince.toISOString()}: ` +
      `'durabill cell add ${name}' opens it again.`,
  );
}
