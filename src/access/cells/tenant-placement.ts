import type { Knex } from 'knex';
import type { BegunMove } from '../../messages/cells/tenant-move.js';
import { homeCell } from '../../platform/database/cell.js';
import { openOwnerTransaction } from '../../platform/database/owner.js';

/** Runs in the home database, as its owner: who runs processes may not place tenants. */
const atHome = <T>(ownerUrl: string, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> =>
  openOwnerTransaction(ownerUrl, async (trx) => {
    await trx.raw(`select set_config('app.tenant_id', '*', true)`);
    return work(trx);
  });

/** Begins the move of a tenant; false: another one is under way. Twice by one run is once. */
export const beginMove = (
  ownerUrl: string,
  { tenantId, from, to }: BegunMove,
  runId: string,
): Promise<boolean> =>
  atHome(ownerUrl, async (trx) => {
    const { rows } = await trx.raw<{ rows: unknown[] }>(
      `insert into tenant_move (tenant_id, run_id, from_cell, to_cell) values (?, ?, ?, ?)
       on conflict (tenant_id) do update set run_id = excluded.run_id,
         from_cell = excluded.from_cell, to_cell = excluded.to_cell, state = 'copying',
         begun_at = now()
       where tenant_move.state = 'ended' or tenant_move.run_id = excluded.run_id
       returning 1`,
      [tenantId, runId, from, to],
    );
    return rows.length > 0;
  });

/**
 * Lets the directory name the cell that a tenant has moved to, with what \`onPlaced\` does. Throws where
 * the move was taken back meanwhile.
 */
export const placeTenant = (
  ownerUrl: string,
  { tenantId, to }: BegunMove,
  onPlaced: (trx: Knex) => Promise<void>,
): Promise<void> =>
  atHome(ownerUrl, async (trx) => {
    const moved = await trx('tenantMove')
      .where({ tenantId, toCell: to, state: 'copying' })
      .update({ state: 'moved' });
    if (moved === 0) throw new Error('The move was taken back.');
    if (to === homeCell) await trx('tenantCell').where({ tenantId }).delete();
    else {
      await trx('tenantCell')
        .insert({ tenantId, cell: to, placedAt: trx.fn.now() })
        .onConflict('tenantId')
        .merge();
    }
    await onPlaced(trx);
  });

/** Works while nobody can let the directory name the new cell; not where that has been done, or taken back. */
export const unlessPlaced = (
  ownerUrl: string,
  { tenantId, to }: BegunMove,
  work: () => Promise<void>,
): Promise<void> =>
  atHome(ownerUrl, async (trx) => {
    const moving = { tenantId, toCell: to, state: 'copying' };
    if ((await trx('tenantMove').where(moving).forUpdate()).length > 0) await work();
  });

/** Ends a move that is in a state; false: it is in another one, or ended before in another one. */
export const endMove = (
  ownerUrl: string,
  tenantId: string,
  state: 'copying' | 'moved',
): Promise<boolean> =>
  atHome(ownerUrl, async (trx) => {
    const ended = await trx('tenantMove').where({ tenantId, state }).update({ state: 'ended' });
    if (ended > 0) return true;
    return (await trx('tenantMove').where({ tenantId, state: 'ended' })).length > 0;
  });

/** Whether a tenant is being moved, or what it left is still kept. */
export const isBeingMoved = async (home: Knex, tenantId: string): Promise<boolean> =>
  (await home('tenantMove').where({ tenantId }).whereNot({ state: 'ended' })).length > 0;
