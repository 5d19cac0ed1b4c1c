import type pg from 'pg';
import { sqlState, sqlStateOf } from '../../../kernel/sql-state.js';

/**
 * Why nobody may use a tenant's rows in a database: they are being copied there, are about to leave, or
 * have left.
 */
export type FenceState = 'arriving' | 'paused' | 'moved';

/** How long raising a fence waits for what is under way; new work waits behind it meanwhile. */
const fenceMs = 400;

export async function findFence(
  client: pg.Client,
  tenantId: string,
): Promise<FenceState | undefined> {
  const { rows } = await client.query<{ state: FenceState }>(
    'select state from tenant_fence where tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.state;
}

/** Sets a fence where nothing is under way for the tenant: before its rows are there, or behind one. */
export async function setFence(
  client: pg.Client,
  tenantId: string,
  state: FenceState,
): Promise<void> {
  await client.query(
    `insert into tenant_fence (tenant_id, state) values ($1, $2)
     on conflict (tenant_id) do update set state = excluded.state, since = now()`,
    [tenantId, state],
  );
}

export async function lowerFence(client: pg.Client, tenantId: string): Promise<void> {
  await client.query('delete from tenant_fence where tenant_id = $1', [tenantId]);
}

/**
 * Fences a tenant off: returns true when nothing is under way for it any more and nothing new begins;
 * false: something takes longer than a moment, and nothing has changed.
 */
export async function raiseFence(client: pg.Client, tenantId: string): Promise<boolean> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${fenceMs}`);
    for (const key of [tenantId, '*']) {
      await client.query(`select pg_advisory_xact_lock(tenant_fence_key($1))`, [key]);
    }
    await setFence(client, tenantId, 'paused');
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback');
    if (sqlStateOf(error) === sqlState.lockNotAvailable) return false;
    throw error;
  }
}
