import type { TenantDatabase } from '../../kernel/scope.js';
import { mergeUsageDeltas } from '../../models/usage/usage-total.js';
import { beginRebuild, rebuildNextDay } from '../../models/usage/usage-total-rebuild.js';

interface Projecting {
  readonly tenantId: string;
  readonly db: TenantDatabase;
}

/** Adds what rating left to the totals of a tenant, at most so many transactions' worth; how many. */
export const mergeUsageTotals = ({ db, tenantId }: Projecting, limit: number): Promise<number> =>
  db.transaction((trx) => mergeUsageDeltas(trx, tenantId, limit));

/** Has the totals of a tenant made again from the facts, day by day, by the workers. */
export const rebuildUsageTotals = ({ db, tenantId }: Projecting): Promise<void> =>
  db.transaction((trx) => beginRebuild(trx, tenantId));

/** Makes the totals of one more day; false: all are made, or another process does it. */
export const rebuildUsageDay = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => rebuildNextDay(trx, tenantId));
