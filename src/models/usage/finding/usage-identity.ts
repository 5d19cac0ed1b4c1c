import type { SqlValue } from '../../db/sql-rows.js';

/** What cannot be stored names no event. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

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
