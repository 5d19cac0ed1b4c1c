import {
  listRatedEvents,
  mergeUsageTotals,
  moveUsageFacts,
  rebuildUsageDay,
} from '../../commands/usage/project-usage.js';
import { listUnlistedTenants } from '../../models/usage/finding/usage-list.js';
import { listMovingTenants } from '../../models/usage/facts-of-earlier-versions.js';
import { listDeltaTenants } from '../../models/usage/usage-total.js';
import { listRebuilds } from '../../models/usage/usage-total-rebuild.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';

const trail = { actor: 'usage-projection', requestId: 'usage-projection' };

const projecting = ({ database }: Platform, tenantId: string) => ({
  tenantId,
  db: database.forTenant(tenantId, trail, 'batch'),
});

/** The tenants of a cell with pending deltas or events to list, or a rebuild under way. */
export async function listProjectedTenants({ platform }: Cell): Promise<string[]> {
  const found = await Promise.all([
    listDeltaTenants(platform),
    listUnlistedTenants(platform),
    listRebuilds(platform),
  ]);
  return [...new Set(found.flat())];
}

/** Brings totals and lists of a tenant up to date by one step; false: there was nothing to do. */
export async function projectUsage(platform: Platform, tenantId: string): Promise<boolean> {
  const scope = projecting(platform, tenantId);
  const areTotalsLeft = await mergeUsageTotals(scope);
  const areListsLeft = await listRatedEvents(scope);
  return (await rebuildUsageDay(scope)) || areTotalsLeft || areListsLeft;
}

/** The tenants of a cell with facts of an earlier version's form. */
export const listTenantsToMove = ({ platform }: Cell): Promise<string[]> =>
  listMovingTenants(platform);

/** Moves some of a tenant's facts; false: nothing is left to move. */
export const moveFactsOf = (platform: Platform, tenantId: string): Promise<boolean> =>
  moveUsageFacts(projecting(platform, tenantId));
