import type { Knex } from 'knex';
import { sqlRows, type SqlValue } from '../../db/sql-rows.js';

/** What cannot be stored names no event. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/**
 * SQL for the ids of the original events of these external ids, and its bindings. Those of earlier
 * versions that workers have not named yet are found by the index that such databases still have
 * (docs/decisions/0341).
 */
export function originalIds(
  tenantId: string,
  externalIds: readonly string[],
): { readonly sql: string; readonly bindings: readonly SqlValue[] } {
  const asked = externalIds.map(storable);
  return {
    sql: `select event_id from usage_identity
      where tenant_id = ? and external_id = any(?::text[])
      union all
      select id from usage_event
      where tenant_id = ? and external_transaction_id = any(?::text[]) and original_id is null
        and exists (
          select from fact_move
          where tenant_id = ? and kind = 'external ids' and done_at is null
        )`,
    bindings: [tenantId, asked, tenantId, asked, tenantId],
  };
}

/**
 * The ids of the original events of these external ids. Asked for before the events themselves, so that
 * where there are none, as with nearly every batch, no partition of events is even planned for. They come
 * from a subquery, since PostgreSQL estimates each element of an array that it knows.
 */
export async function findOriginalIds(
  db: Knex,
  tenantId: string,
  externalIds: readonly string[],
): Promise<readonly string[]> {
  const asked = externalIds.map(storable);
  const [row] = await sqlRows<{ ids: string[]; isNaming: boolean }>(
    db,
    `select array(
       select event_id from usage_identity
       where tenant_id = ? and external_id = any((select ?::text[])::text[])
     ) as ids, exists (
       select from fact_move where tenant_id = ? and kind = 'external ids' and done_at is null
     ) as "isNaming"`,
    [tenantId, asked, tenantId],
  );
  if (row?.isNaming !== true) return row?.ids ?? [];
  const { sql, bindings } = originalIds(tenantId, externalIds);
  const rows = await sqlRows<{ id: string }>(
    db,
    `select event_id as id from (${sql}) as named`,
    bindings,
  );
  return rows.map(({ id }) => id);
}
