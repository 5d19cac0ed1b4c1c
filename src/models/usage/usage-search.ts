import type { Knex } from 'knex';
import { chargesMax } from '../../messages/usage-log.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows, type SqlValue } from '../db/sql-rows.js';

/** Ids of one group: they have most trigrams in common. */
export const searchedIdsMax = 32;

const table = new BulkTable<{ externalIds: string }>('usage_search', { externalIds: 'json text' });

/** The statements that have the external ids of rated events found by their parts (docs/decisions/0323). */
export function searchedIds(
  tenantId: string,
  externalIds: Iterable<string>,
): Iterable<BulkStatement | null> {
  const ids = [...externalIds];
  const groups: { externalIds: string }[] = [];
  for (let from = 0; from < ids.length; from += searchedIdsMax) {
    groups.push({ externalIds: JSON.stringify(ids.slice(from, from + searchedIdsMax)) });
  }
  return table.insertingAll(tenantId, groups);
}

/** Groups and charges up to which looking them up is quicker than reading charges in their order. */
const groupsMax = 200;
const foundMax = 10_000;

/** Conditions on the groups and on the ids in them, with their bindings in this order. */
export interface SearchConditions {
  readonly ofGroup: { readonly sql: string; readonly bindings: readonly SqlValue[] };
  readonly ofId: { readonly sql: string; readonly bindings: readonly SqlValue[] };
}

/**
 * The ids of charges whose external id meets a condition on `id`. Undefined where too many do, or
 * ids of earlier versions are not in groups yet: then the charges themselves have to be read.
 */
export async function searchCharges(
  db: Knex,
  tenantId: string,
  { ofGroup, ofId }: SearchConditions,
): Promise<readonly string[] | undefined> {
  const [found] = await sqlRows<{ isMoving: boolean; groups: number; ids: string[] }>(
    db,
    `with candidate as materialized (
       select external_ids from usage_search where tenant_id = ? and ${ofGroup.sql}
       limit ${groupsMax + 1}
     ), matched as materialized (
       select distinct id from candidate
       cross join lateral jsonb_array_elements_text(external_ids::jsonb) as each (id)
       where (select count(*) from candidate) <= ${groupsMax} and ${ofId.sql}
     ), event as materialized (
       -- The ids of its charges (docs/decisions/0040) lie between these, and those of others, too.
       select event_id as id, usage_charge_id(event_id, 1) as low,
         usage_charge_id(event_id, ${chargesMax}) as high
       from matched join usage_identity as event on event.tenant_id = ?
         and event.external_id = matched.id
     )
     select (select count(*) from candidate)::integer as "groups",
       exists (
         select from fact_move
         where tenant_id = ? and kind in ('searched ids', 'external ids') and done_at is null
       ) as "isMoving",
       array(
         select t.id from event join rated_transaction as t on t.tenant_id = ?
           and t.id >= event.low and t.id <= event.high and t.usage_event_id = event.id
         limit ${foundMax + 1}
       ) as "ids"`,
    [tenantId, ...ofGroup.bindings, ...ofId.bindings, tenantId, tenantId, tenantId],
  );
  if (!found || found.isMoving || found.groups > groupsMax) return undefined;
  return found.ids.length > foundMax ? undefined : found.ids;
}
