import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';

/** A period of an adjustment that a billing run has brought to what was agreed. */
export interface AdjustedPeriodRow {
  readonly adjustmentId: string;
  readonly accountId: string;
  readonly periodStart: string;
  /** What was agreed then; decimal text. */
  readonly value: string;
}

/** Keeps these periods; a run that bills one of them again has the last word. */
export async function keepAdjustedPeriods(
  trx: Knex.Transaction,
  tenantId: string,
  rows: readonly AdjustedPeriodRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await sqlRows(
    trx,
    `insert into adjusted_period (tenant_id, adjustment_id, account_id, period_start, value)
     select :tenantId, given.* from unnest(:adjustments::uuid[], :accounts::uuid[], :starts::date[],
       :values::numeric[]) as given (adjustment_id, account_id, period_start, value)
     on conflict on constraint adjusted_period_pkey
       do update set value = excluded.value, settled_at = now()`,
    {
      tenantId,
      adjustments: rows.map(({ adjustmentId }) => adjustmentId),
      accounts: rows.map(({ accountId }) => accountId),
      starts: rows.map(({ periodStart }) => periodStart),
      values: rows.map(({ value }) => value),
    },
  );
}
