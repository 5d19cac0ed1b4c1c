import { listProjectedTenants, projectUsage } from '../activities/usage/projection.js';
import type { Platform } from '../process/platform.js';
import { Watch } from './watch.js';

const projectMs = 500;
/** Maximum steps for one tenant before the others have their turn. */
const stepsMax = 20;

/**
 * Merges usage deltas into totals in the background. Every process with workers runs it; an
 * advisory lock admits one process at a time for a tenant.
 */
export const startUsageProjector = (platform: Platform): Watch =>
  new Watch(platform, {
    everyMs: projectMs,
    failure: 'cannot look for usage to add up; trying again',
    look: async (watch) => {
      for (const tenantId of await listProjectedTenants(platform)) {
        await projectTenant(platform, tenantId, watch);
      }
    },
  });

/** An error of one tenant must not block the following ones. */
async function projectTenant(platform: Platform, tenantId: string, watch: Watch): Promise<void> {
  try {
    for (let step = 0; step < stepsMax && !watch.isStopped; step += 1) {
      if (!(await projectUsage(platform, tenantId))) return;
    }
  } catch (error) {
    platform.log.warn({ err: error, tenantId }, 'cannot add up usage; trying again');
  }
}
