import type { Knex } from 'knex';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type { BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';

/** What rating adds to the totals of an hour and a combination: decimal text, by position of its parts. */
export interface UsageDelta {
  readonly combinationId: string;
  /** When the hour begins, an instant in UTC. */
  readonly startAt: string;
  readonly events: number;
  readonly quantities: readonly string[];
  readonly amounts: readonly string[];
}

/**
 * The statement that stores the deltas of a transaction, to be merged into the totals in the background; null
 * where there are none.
 */
export function insertingUsageChange(
  tenantId: string,
  deltas: readonly UsageDelta[],
): BulkStatement | null {
  if (deltas.length === 0) return null;
  const parts = deltas.flatMap((delta) =>
    delta.quantities.map((quantity, index) => ({
      delta,
      position: index + 1,
      quantity,
      amount: delta.amounts[index] ?? '0',
    })),
  );
  return {
    sql: `insert into usage_change
       (tenant_id, parts, combination_ids, positions, start_ats, events, quantities, amounts)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    bindings: [
      tenantId,
      parts.length,
      arrayLiteral(parts.map(({ delta }) => delta.combinationId)),
      arrayLiteral(parts.map(({ position }) => position)),
      arrayLiteral(parts.map(({ delta }) => delta.startAt)),
      arrayLiteral(parts.map(({ delta }) => delta.events)),
      arrayLiteral(parts.map(({ quantity }) => quantity)),
      arrayLiteral(parts.map(({ amount }) => amount)),
    ],
  };
}

/** Takes apart rows of `usage_change`. */
const changePartsSql = (rows: string): string => `
  select change.id as delta_id, part.* from ${rows} as change
  cross join unnest(combination_ids, positions, start_ats, change.events, quantities, amounts)
    as part (combination_id, position, start_at, events, quantity, amount)`;

/** Takes apart rows of `usage_delta`, which a version before 0342 writes. */
const deltaPartsSql = (rows: string): string => `
  select -change.id as delta_id, delta.combination_id, part.position, delta.start_at, delta.events,
    part.quantity, part.amount
  from ${rows} as change cross join jsonb_to_recordset(totals) as delta
    (combination_id uuid, start_at timestamptz, events bigint, quantities numeric[], amounts numeric[])
  cross join unnest(quantities, amounts) with ordinality as part (quantity, amount, position)`;

/**
 * What waits to be merged into the totals of a tenant: delta_id, combination_id, position, start_at,
 * events, quantity and amount, a row for each part of a combination and hour.
 */
export const pendingPartsSql = `
  ${changePartsSql('usage_change')} where change.tenant_id = :tenantId
  union all
  ${deltaPartsSql('usage_delta')} where change.tenant_id = :tenantId`;

/**
 * Advisory lock per tenant: one process at a time merges or rebuilds its totals, until the commit.
 */
export const lockSql = `pg_try_advisory_xact_lock(hashtextextended('usage-total/' || :tenantId, 0))`;

/**
 * The rows of `change` (combination_id, position, start_at, events, quantity, amount; by hour and
 * account, a row for each part) in all grains, each summed.
 *
 * change: ('c1', 1, 10:00, 2, 5, 0.50), ('c2', 1, 10:00, 1, 3, 0.30), both of the coarse combination
 * 'a', gives 'day' of c1 and c2 each for itself, and 'coarse hour' and 'coarse day' of 'a' with 3
 * events, {8}, {0.80}.
 */
export const grainsSql = `
  grained as (
    select 'day' as grain, combination_id, position, date_trunc('day', start_at, 'UTC') as start_at,
      events, quantity, amount
    from change
    union all
    select grain, coarse_id, position, case grain when 'coarse day'
      then date_trunc('day', start_at, 'UTC') else start_at end, events, quantity, amount
    from change join usage_combination as combination
      on combination.tenant_id = :tenantId and combination.id = change.combination_id
    cross join (values ('coarse hour'), ('coarse day')) as coarse (grain)
  ),
  added as (
    select grain, combination_id, start_at, position, sum(events) as events,
      sum(quantity) as quantity, sum(amount) as amount
    from grained group by grain, combination_id, start_at, position
  ),
  summed as (
    -- All parts of a combination have its events.
    select grain, combination_id, start_at, min(events) filter (where position = 1) as events,
      array_agg(quantity order by position) as quantities,
      array_agg(amount order by position) as amounts
    from added group by grain, combination_id, start_at
    order by grain, combination_id, start_at
  )`;

/** Parts, and deltas of a version before 0342, that one transaction merges. */
const partsMax = 400_000;
const deltasMax = 50;

const mergeSql = `
  with held as materialized (
    select ${lockSql} as is_held
  ),
  taken as (
    delete from usage_change where tenant_id = :tenantId and id in (
      select id from (
        select id, sum(parts) over (order by id) - parts as parts_before
        from usage_change where tenant_id = :tenantId
      ) as summed where parts_before < ${partsMax}
    ) and (select is_held from held) returning *
  ),
  taken_before as (
    delete from usage_delta where tenant_id = :tenantId and id in (
      select id from usage_delta where tenant_id = :tenantId order by id limit ${deltasMax}
    ) and (select is_held from held) returning *
  ),
  change as (
    ${changePartsSql('taken')} union all ${deltaPartsSql('taken_before')}
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
  select exists (
      select from usage_change where tenant_id = :tenantId and id > (select max(id) from taken)
    ) or (select count(*) from taken_before) = ${deltasMax} as "isCut"`;

/** What waits is merged when it has so many parts, or the first of it has waited so long. */
const partsMin = 200_000;
const waitMax = '10 seconds';

/** The tenants with deltas to merge; read with the platform's handle. */
export async function listDeltaTenants(platform: Knex): Promise<string[]> {
  // A loose index scan from tenant to tenant, whatever the number of rows of each.
  const tenantsOf = (table: string): string => `
    (select tenant_id from ${table} order by tenant_id limit 1)
    union all
    select (select tenant_id from ${table} where tenant_id > found.tenant_id
      order by tenant_id limit 1)
    from found where found.tenant_id is not null`;
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    `select tenant_id as "tenantId" from (
       with recursive found as (${tenantsOf('usage_change')}) select tenant_id from found
     ) as waiting where tenant_id is not null and (
       (select added_at from usage_change where tenant_id = waiting.tenant_id
         order by id limit 1) < now() - interval '${waitMax}'
       or (select sum(parts) from usage_change where tenant_id = waiting.tenant_id) >= ${partsMin}
     )
     union
     select tenant_id from (
       with recursive found as (${tenantsOf('usage_delta')}) select tenant_id from found
     ) as earlier where tenant_id is not null`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/**
 * Merges the oldest deltas of a tenant into its totals; true: more wait than one transaction takes.
 * Does nothing while another process does it.
 */
export async function mergeUsageDeltas(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  const [row] = await sqlRows<{ isCut: boolean }>(trx, mergeSql, { tenantId });
  return row?.isCut === true;
}
