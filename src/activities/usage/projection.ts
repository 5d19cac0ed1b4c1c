import {
  mergeUsageTotals,
  moveUsageFacts,
  rebuildUsageDay,
} from '../../commands/usage/project-usage.js';
import { listMovingTenants } from '../../models/usage/fact-move.js';
import { listDeltaTenants } from '../../models/usage/usage-total.js';
import { listRebuilds } from '../../models/usage/usage-total-rebuild.js';
import type { Platform } from '../../process/platform.js';

const trail = { actor: 'usage-projection', requestId: 'usage-projection' };

const projecting = ({ database }: Platform, tenantId: string) => ({
  tenantId,
  db: database.forTenant(tenantId, trail, 'batch'),
});

/** The tenants with pending deltas, or a rebuild under way. */
export async function listProjectedTenants({ database }: Platform): Promise<string[]> {
  const [behind, rebuilt] = await Promise.all([
    listDeltaTenants(database.platform),
    listRebuilds(database.platform),
  ]);
  return [...new Set([...behind, ...rebuilt])];
}

/** Brings the totals of a tenant up to date by one step; false: there was nothing to do. */
export async function projectUsage(platform: Platform, tenantId: string): Promise<boolean> {
  const scope = projecting(platform, tenantId);
  const isLeft = await mergeUsageTotals(scope);
  return (await rebuildUsageDay(scope)) || isLeft;
}

/** The tenants with facts of an earlier version's form. */
export const listTenantsToMove = ({ database }: Platform): Promise<string[]> =>
  listMovingTenants(database.platform);

/** Moves some of a tenant's facts; false: nothing is left to move. */
export const moveFactsOf = (platform: Platform, tenantId: string): Promise<boolean> =>
  moveUsageFacts(projecting(platform, tenantId));
