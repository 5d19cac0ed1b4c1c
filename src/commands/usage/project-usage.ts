import type { TenantDatabase } from '../../kernel/scope.js';
import { moveFacts } from '../../models/usage/fact-move.js';
import { mergeUsageDeltas } from '../../models/usage/usage-total.js';
import { beginRebuild, rebuildNextDay } from '../../models/usage/usage-total-rebuild.js';

interface Projecting {
  readonly tenantId: string;
  readonly db: TenantDatabase;
}

/** Adds the oldest pending deltas to the totals of a tenant; true: more are left. */
export const mergeUsageTotals = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => mergeUsageDeltas(trx, tenantId));

/** Starts a rebuild of a tenant's totals from its rated transactions; workers do it day by day. */
export const rebuildUsageTotals = ({ db, tenantId }: Projecting): Promise<void> =>
  db.transaction((trx) => beginRebuild(trx, tenantId));

/** Rebuilds the totals of one more day; false: none is left, or another process is rebuilding. */
export const rebuildUsageDay = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => rebuildNextDay(trx, tenantId));

/** Moves some of a tenant's facts from the form of an earlier version; false: nothing is left. */
export const moveUsageFacts = ({ db, tenantId }: Projecting): Promise<boolean> =>
  db.transaction((trx) => moveFacts(trx, tenantId));
