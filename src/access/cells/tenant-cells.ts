import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { FindCell } from '../../platform/cells/cell-directory.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Database } from '../../platform/database/database.js';
import { setTenantClock } from '../../models/sandbox/sandbox-clock.js';
import { ensureTenant } from '../tenants.js';

/** Where it is told that a tenant has another cell; see the migration. */
export const tenantCellChannel = 'tenant_cell';

/** Looks up in the home database which cell a tenant is in. */
export const tenantCellFinder =
  (home: Knex): FindCell =>
  async (tenantId) => {
    const found = await home('tenantCell').where({ tenantId }).first<{ cell: string }>('cell');
    return found?.cell;
  };

/** How many tenants are in each cell beside the home database. */
export async function countTenantsByCell(home: Knex): Promise<ReadonlyMap<string, number>> {
  const rows = await home('tenantCell')
    .select<{ cell: string; count: number }[]>('cell', home.raw('count(*)::int as count'))
    .groupBy('cell');
  return new Map(rows.map(({ cell, count }) => [cell, count]));
}

/** How many tenants are in each cell. */
export async function countTenants(
  home: Knex,
  homeName: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await home('tenant')
    .leftJoin('tenantCell', 'tenantCell.tenantId', 'tenant.id')
    .select<{ cell: string; count: number }[]>(
      home.raw('coalesce(tenant_cell.cell, ?) as cell', [homeName]),
      home.raw('count(*)::int as count'),
    )
    .groupBy('tenantCell.cell');
  return new Map(rows.map(({ cell, count }) => [cell, count]));
}

/** The cells of the tenants that are not in the home database. */
export async function listTenantCells(home: Knex): Promise<ReadonlyMap<string, string>> {
  const rows = await home('tenantCell').select<{ tenantId: string; cell: string }[]>(
    'tenantId',
    'cell',
  );
  return new Map(rows.map(({ tenantId, cell }) => [tenantId, cell]));
}

/** The tenants of a cell. */
export async function listTenantsIn(home: Knex, cell: string): Promise<string[]> {
  const rows = await home('tenant')
    .leftJoin('tenantCell', 'tenantCell.tenantId', 'tenant.id')
    .whereRaw(`coalesce(tenant_cell.cell, 'home') = ?`, [cell])
    .orderBy('tenant.id')
    .select<{ id: string }[]>('tenant.id');
  return rows.map(({ id }) => id);
}

/** 400: `CELLS` names no such cell; the message says which there are. */
export function requireCell({ cells }: Database, name: string): Cell {
  const found = cells.find((cell) => cell.name === name);
  if (found) return found;
  const known = cells.map((cell) => cell.name).join(', ');
  throw problem.validation(`'${name}' is no cell of CELLS; there are: ${known}.`);
}

interface TenantToMake {
  readonly id: string;
  readonly name?: string | undefined;
  /** The time at which it stands, if it is a sandbox. */
  readonly sandboxAt?: Date | undefined;
}

/**
 * Makes a tenant in a cell; false: there is one already. The cell has it first, so that a tenant which
 * the home database knows has a place for its rows. `onMade` runs in the transaction that makes it.
 */
export async function ensureTenantIn(
  database: Database,
  cell: Cell,
  { id, name, sandboxAt }: TenantToMake,
  onMade: (trx: Knex) => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const { home } = database;
  const known = await home.platform('tenant').where({ id }).first<{ id: string } | undefined>('id');
  if (known !== undefined) return false;
  if (cell !== home) {
    await ensureTenant(cell.platform, id, name);
    // It may have been begun before, and not ended.
    await setTenantClock(cell.platform, id, sandboxAt);
  }
  const isMade = await home.platform.transaction(async (trx) => {
    if (!(await ensureTenant(trx, id, name))) return false;
    if (cell === home) await setTenantClock(trx, id, sandboxAt);
    if (cell !== home) await trx('tenantCell').insert({ tenantId: id, cell: cell.name });
    await onMade(trx);
    return true;
  });
  database.forgetCell(id);
  return isMade;
}
