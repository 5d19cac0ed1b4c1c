import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';
import type { ListKind } from './usage-list.js';

/** Which lists an event leaves, and which it comes to. */
interface ListChange {
  readonly eventId: string;
  readonly kind: ListKind;
  /** Null: it is in none. */
  readonly from: string | null;
  readonly to: string | null;
}

/** An event waits in one of the rows that are not grouped yet, or is in a group. */
const leaveSql = (kind: ListKind): string => `
  with waiting as (
    update usage_unlisted
    set ${kind}_ids[array_position(ids, :eventId::uuid)] = null
    where tenant_id = :tenantId and :eventId::uuid = any(ids)
  ), gone as (
    delete from usage_list
    where tenant_id = :tenantId and kind = '${kind}' and key = :key::uuid
      and first_id <= :eventId::uuid and last_id >= :eventId::uuid and :eventId::uuid = any(ids)
    returning array_remove(ids, :eventId::uuid) as rest
  )
  insert into usage_list (tenant_id, kind, key, first_id, last_id, events, ids)
  select :tenantId, '${kind}', :key::uuid, rest[1], rest[cardinality(rest)], cardinality(rest), rest
  from gone where cardinality(rest) > 0`;

const enterSql = (kind: ListKind): string => `
  insert into usage_unlisted (tenant_id, events, ids, account_ids, service_ids)
  values (:tenantId, 1, array[:eventId::uuid],
    array[${kind === 'account' ? ':key::uuid' : 'null::uuid'}],
    array[${kind === 'service' ? ':key::uuid' : 'null::uuid'}])`;

/** Lets nothing be grouped or listed until the commit. */
export async function holdLists(trx: Knex.Transaction, tenantId: string): Promise<void> {
  for (const work of ['usage-list/', 'fact-move/']) {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${work}${tenantId}`]);
  }
}

/**
 * Moves a rated event that stays one to another list, or takes one that was canceled out of it
 * (docs/decisions/0343). What becomes rated is listed by the triggers.
 */
export async function changeList(
  trx: Knex.Transaction,
  tenantId: string,
  { eventId, kind, from, to }: ListChange,
): Promise<void> {
  if (from === to) return;
  if (from !== null) await sqlRows(trx, leaveSql(kind), { tenantId, eventId, key: from });
  if (to !== null) await sqlRows(trx, enterSql(kind), { tenantId, eventId, key: to });
}
