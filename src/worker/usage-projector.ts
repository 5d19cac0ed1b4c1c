import {
  listProjectedTenants,
  listTenantsToMove,
  moveFactsOf,
  projectUsage,
} from '../activities/usage/project-usage.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable, type Watch } from './watch.js';

/** Waiting saves WAL: a total that many deltas change is written once. Answers add what waits. */
const projectMs = 3_000;
/** Maximum steps for one tenant before the others have their turn. */
const stepsMax = 100;

type Step = (platform: Platform, tenantId: string) => Promise<boolean>;

/**
 * Merges usage deltas into totals in the background, and moves facts from the form of an earlier
 * version (docs/decisions/0321). Every process with workers runs it; an advisory lock admits one
 * process at a time for a tenant.
 */
export const startUsageProjector = (platform: Platform): Stoppable =>
  watchCells(platform, (cell) => ({
    everyMs: projectMs,
    failure: 'cannot look for usage to add up; trying again',
    look: async (watch) => {
      const takeSteps = async (tenantIds: readonly string[], step: Step): Promise<void> => {
        for (const tenantId of tenantIds) await stepTenant(platform, tenantId, watch, step);
      };
      await takeSteps(await listProjectedTenants(cell), projectUsage);
      await takeSteps(await listTenantsToMove(cell), moveFactsOf);
    },
  }));

/** An error of one tenant must not block the following ones. */
async function stepTenant(
  platform: Platform,
  tenantId: string,
  watch: Watch,
  takeStep: Step,
): Promise<void> {
  try {
    for (let step = 0; step < stepsMax && !watch.isStopped; step += 1) {
      if (!(await takeStep(platform, tenantId))) return;
    }
  } catch (error) {
    platform.log.warn({ err: error, tenantId }, 'cannot project or move usage; trying again');
  }
}
