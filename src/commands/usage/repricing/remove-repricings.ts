import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** Repricings of a tenant whose accounts and charges are kept, and those that are kept at all. */
const detailedMax = 20;
const listedMax = 1_000;
/** Rows that one transaction removes. */
const rowsMax = 5_000;

/** The row that says how far it is goes first: without it nobody writes more of the others. */
const scratch = [
  'repricing_run',
  'repricing_charge',
  'repricing_account',
  'repricing_plan',
  'repricing_period',
];

/** The oldest one whose rows are to go, if any is. */
const oldSql = `
  select id from (
    select id, removed_at from repricing where tenant_id = :tenantId
    order by id desc offset ${detailedMax}
  ) as old where removed_at is null order by id limit 1`;

/** Removes some rows of what is older than the newest; true: there are more. */
export async function removeOldRepricings(scope: Scope): Promise<boolean> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const [old] = await sqlRows<{ id: string }>(trx, oldSql, { tenantId });
    if (!old) {
      await sqlRows(
        trx,
        `delete from repricing where tenant_id = :tenantId and id in (
           select id from repricing where tenant_id = :tenantId
           order by id desc offset ${listedMax}
         )`,
        { tenantId },
      );
      return false;
    }
    for (const table of scratch) {
      const removed = await sqlRows(
        trx,
        `delete from ${table} where ctid = any(array(
           select ctid from ${table} where tenant_id = :tenantId and repricing_id = :id
           limit ${rowsMax}
         )) and tenant_id = :tenantId returning 1`,
        { tenantId, id: old.id },
      );
      if (removed.length === rowsMax) return true;
    }
    await trx('repricing')
      .where({ tenantId, id: old.id })
      .update({ removedAt: trx.raw('now()') });
    return true;
  });
}
