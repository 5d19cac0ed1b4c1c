import type { TenantDatabase } from '../../kernel/scope.js';
import { beginListing, groupUnlisted } from '../../models/usage/finding/usage-list.js';
import { listDroppedMonths, refuseArchived } from '../../models/usage/finding/dropped-month.js';
import { moveFacts } from '../../models/usage/facts-of-earlier-versions.js';
import { mergeUsageDeltas } from '../../models/usage/usage-total.js';
import { beginRebuild, rebuildNextDay } from '../../models/usage/usage-total-rebuild.js';

interface Projecting {
  readonly tenantId: string;
  readonly db: TenantDatabase;
}

/** Adds the oldest pending deltas to the totals of a tenant; true: more are left. */
export const mergeUsageTotals = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => mergeUsageDeltas(trx, tenantId));

/** Groups the events of a tenant that wait to be listed; true: more are left. */
export const listRatedEvents = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => groupUnlisted(trx, tenantId));

/**
 * Starts a rebuild of a tenant's totals and lists from its facts; workers make totals day by day, and
 * lists in portions. 409: some of the facts are in the archive alone.
 */
export const rebuildProjections = ({ db, tenantId }: Projecting): Promise<void> =>
  db.transaction(async (trx) => {
    refuseArchived(await listDroppedMonths(trx, tenantId));
    await beginListing(trx, tenantId);
    await beginRebuild(trx, tenantId);
  });

/** Rebuilds the totals of one more day; false: none is left, or another process is rebuilding. */
export const rebuildUsageDay = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => rebuildNextDay(trx, tenantId));

/** Moves some of a tenant's facts from the form of an earlier version; false: nothing is left. */
export const moveUsageFacts = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => moveFacts(trx, tenantId));
