import type { Knex } from 'knex';
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
