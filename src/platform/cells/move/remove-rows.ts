import type pg from 'pg';
import { tableSql, type MovedTable } from './moved-tables.js';

/** Rows removed in one transaction. */
const rowsMax = 10_000;

/**
 * Removes a tenant's rows from a database that does not hold it: as replication writes rows, without
 * triggers and foreign keys, since all of them go and the audit is kept where the tenant is. The
 * fence stays. `onPortion` is called after each portion.
 */
export async function removeRows(
  client: pg.Client,
  tenantId: string,
  tables: readonly MovedTable[],
  onPortion: (removed: number) => void = () => undefined,
): Promise<number> {
  let removed = 0;
  for (const table of tables) {
    for (;;) {
      await client.query('begin');
      try {
        await client.query('set local session_replication_role = replica');
        const { rowCount } = await client.query(
          `delete from ${tableSql(table)} where tenant_id = $1 and ctid = any (array(
             select ctid from ${tableSql(table)} where tenant_id = $1 limit ${rowsMax}))`,
          [tenantId],
        );
        await client.query('commit');
        removed += rowCount ?? 0;
        onPortion(removed);
        if ((rowCount ?? 0) < rowsMax) break;
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
    }
  }
  return removed;
}
