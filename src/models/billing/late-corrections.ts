import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** Up to which day the usage of accounts is closed, by account; accounts without any are missing. */
type ClosedDays = ReadonlyMap<string, string>;

export async function readClosedDays(
  db: Knex,
  tenantId: string,
  accountIds: readonly string[],
): Promise<ClosedDays> {
  if (accountIds.length === 0) return new Map();
  const rows = await sqlRows<{ accountId: string; until: string }>(
    db,
    `select account_id as "accountId", closed_until::text as "until" from closed_usage
     where tenant_id = ? and account_id = any(?::uuid[])`,
    [tenantId, accountIds],
  );
  return new Map(rows.map(({ accountId, until }) => [accountId, until]));
}

/**
 * Queues what a correction has written for days that were closed while it wrote: from here to the
 * commit no day is closed. `seen` says which days were closed before, of each account that it has
 * written of: what was written for those is queued already (docs/decisions/0110, 0385).
 */
export async function queueLateCorrections(
  trx: Knex.Transaction,
  tenantId: string,
  correctionId: string,
  seen: ReadonlyMap<string, string | null>,
): Promise<void> {
  if (seen.size === 0) return;
  await sqlRows(trx, 'select pg_advisory_xact_lock_shared(usage_lock(?))', [tenantId]);
  await sqlRows(
    trx,
    `insert into unbilled_usage
       (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
     select t.tenant_id, t.account_id, t.transaction_date, t.id, t.contract_service_id
     from unnest(:accountIds::uuid[], :seen::date[]) as given (account_id, seen)
     join closed_usage as known on known.tenant_id = :tenantId
       and known.account_id = given.account_id and known.closed_until is distinct from given.seen
     join rated_transaction as t on t.tenant_id = :tenantId and t.account_id = known.account_id
       and t.transaction_date <= known.closed_until and t.correction_id = :correctionId::uuid
       and (given.seen is null or t.transaction_date > given.seen)
     on conflict do nothing`,
    { tenantId, correctionId, accountIds: [...seen.keys()], seen: [...seen.values()] },
  );
}
