import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** What rating adds to the totals of an hour and a combination: decimal text, by position of its parts. */
export interface UsageDelta {
  readonly combination_id: string;
  /** When the hour begins, an instant in UTC. */
  readonly start_at: string;
  readonly events: number;
  readonly quantities: readonly string[];
  readonly amounts: readonly string[];
}

/** The columns of `usage_delta.totals`. */
export const deltaColumns =
  '(combination_id uuid, start_at timestamptz, events bigint, quantities numeric[], amounts numeric[])';

/** Stores the delta of a transaction, to be merged into the totals in the background. */
export async function insertUsageDelta(
  trx: Knex.Transaction,
  tenantId: string,
  deltas: readonly UsageDelta[],
): Promise<void> {
  if (deltas.length === 0) return;
  await trx.raw('insert into usage_delta (tenant_id, totals) values (?, ?::jsonb)', [
    tenantId,
    JSON.stringify(deltas),
  ]);
}

/**
 * Advisory lock per tenant: one process at a time merges or rebuilds its totals, until the commit.
 */
export const lockSql = `pg_try_advisory_xact_lock(hashtextextended('usage-total/' || :tenantId, 0))`;

/**
 * The rows of `change` (combination_id, start_at, events, quantities, amounts; by hour and account) in
 * all grains, each summed.
 *
 * change: ('c1', 10:00, 2, {5,5}, {0.50,0.50}), ('c2', 10:00, 1, {3,3}, {0.30,0.30}), both of the
 * coarse combination 'a', gives 'day' of c1 and c2 each for itself, and 'coarse hour' and 'coarse day' of
 * 'a' with 3 events, {8,8}, {0.80,0.80}.
 */
export const grainsSql = `
  grained as (
    select 'day' as grain, combination_id, date_trunc('day', start_at, 'UTC') as start_at, events,
      quantities, amounts
    from change
    union all
    select grain, coarse_id, case grain when 'coarse day' then date_trunc('day', start_at, 'UTC')
      else start_at end, events, quantities, amounts
    from change join usage_combination as combination
      on combination.tenant_id = :tenantId and combination.id = change.combination_id
    cross join (values ('coarse hour'), ('coarse day')) as coarse (grain)
  ),
  counted as (
    select grain, combination_id, start_at, sum(events) as events
    from grained group by grain, combination_id, start_at
  ),
  added as (
    select grain, combination_id, start_at, position, sum(quantity) as quantity, sum(amount) as amount
    from grained cross join unnest(quantities, amounts) with ordinality
      as part (quantity, amount, position)
    group by grain, combination_id, start_at, position
  ),
  summed as (
    select grain, combination_id, start_at, counted.events,
      array_agg(quantity order by position) as quantities,
      array_agg(amount order by position) as amounts
    from added join counted using (grain, combination_id, start_at)
    group by grain, combination_id, start_at, counted.events
    order by grain, combination_id, start_at
  )`;

const mergeSql = `
  with taken as (
    delete from usage_delta where tenant_id = :tenantId and id in (
      select id from usage_delta where tenant_id = :tenantId order by id limit :limit
    ) and ${lockSql} returning totals
  ),
  change as (
    select delta.* from taken cross join jsonb_to_recordset(totals) as delta ${deltaColumns}
  ),
  ${grainsSql},
  merged as (
    insert into usage_total as known
      (tenant_id, grain, combination_id, start_at, events, quantities, amounts)
    select :tenantId, grain, combination_id, start_at, events, quantities, amounts from summed
    on conflict (tenant_id, grain, combination_id, start_at) do update set
      events = known.events + excluded.events,
      quantities = add_each(known.quantities, excluded.quantities),
      amounts = add_each(known.amounts, excluded.amounts)
  )
  select count(*)::integer as "taken" from taken`;

/** The tenants with pending deltas; read with the platform's handle. */
export async function listDeltaTenants(platform: Knex): Promise<string[]> {
  // A loose index scan from tenant to tenant, whatever the number of rows of each.
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    `with recursive found as (
       (select tenant_id from usage_delta order by tenant_id limit 1)
       union all
       select (select tenant_id from usage_delta where tenant_id > found.tenant_id
         order by tenant_id limit 1)
       from found where found.tenant_id is not null
     ) select tenant_id as "tenantId" from found where tenant_id is not null`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/**
 * Merges the oldest deltas of a tenant into its totals; returns how many: 0 while another process
 * does it.
 */
export async function mergeUsageDeltas(
  trx: Knex.Transaction,
  tenantId: string,
  limit: number,
): Promise<number> {
  const [row] = await sqlRows<{ taken: number }>(trx, mergeSql, { tenantId, limit });
  return row?.taken ?? 0;
}
