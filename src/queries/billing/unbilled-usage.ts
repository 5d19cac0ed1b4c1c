import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import {
  isDueSql,
  sumUsage,
  type UsageGroup,
  type UsageSelection,
} from '../../models/billing/usage-items.js';

/** The items that claiming the same usage would give (models/billing/unbilled-usage.ts). */
export const previewUsage = (
  db: Knex,
  tenantId: string,
  selection: UsageSelection,
): Promise<UsageGroup[] | undefined> =>
  sumUsage(db, tenantId, selection, {
    queued: `select account_id, transaction_date, transaction_id
      from unbilled_usage as late where ${isDueSql}`,
  });

/** Differences of an account's invoiced usage that wait for its next invoice. */
export async function readWaitingDifferences(
  trx: Knex.Transaction,
  tenantId: string,
  accountId: string,
): Promise<readonly UsageGroup[]> {
  // Invoiced usage is of days that are billed, so that what corrects it is queued.
  const [billed] = await sqlRows<{ until: string }>(
    trx,
    `select billed_until::text as "until" from billed_usage as known
     where tenant_id = :tenantId and account_id = :accountId
       and exists (select from usage_correction where tenant_id = :tenantId)
       and exists (
         select from unbilled_usage where tenant_id = :tenantId and account_id = :accountId
       )`,
    { tenantId, accountId },
  );
  if (!billed) return [];
  const most = Number.MAX_SAFE_INTEGER;
  const found = await previewUsage(trx, tenantId, {
    accountIds: [accountId],
    until: billed.until,
    cutoffs: [],
    seed: newId(),
    groupsMax: most,
    itemsMax: most,
    tiersMax: most,
  });
  return (found ?? []).filter(
    ({ correctedInvoiceId, usageType }) => correctedInvoiceId !== null && usageType === 'Charge',
  );
}
