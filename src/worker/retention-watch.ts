import { listRetention, removeAgedOf } from '../activities/ageing/retention.js';
import type { Platform } from '../process/platform.js';
import { Watch } from './watch.js';

/** What ages does so by the day; after a start it is looked at soon. */
const everyMsByDefault = 60_000;
/** Portions of one kind of a tenant before the others have their turn. */
const portionsMax = 100;

/**
 * Removes what is older than its tenant's retention, in portions (docs/decisions/0350). Every process
 * with workers runs it; a lock admits one process at a time for a tenant.
 */
export const startRetentionWatch = (platform: Platform, everyMs = everyMsByDefault): Watch =>
  new Watch(platform, {
    everyMs,
    failure: 'cannot look for what retention removes; trying again',
    look: async (watch) => {
      for (const due of await listRetention(platform)) {
        // An error of one tenant must not block the following ones.
        try {
          await removeSome(platform, due, watch);
        } catch (error) {
          platform.metrics.retentionFailures.inc();
          platform.log.warn({ err: error, ...due }, 'cannot remove what is too old; trying again');
        }
      }
    },
  });

type Due = Awaited<ReturnType<typeof listRetention>>[number];

async function removeSome(platform: Platform, due: Due, watch: Watch): Promise<void> {
  let after: Parameters<typeof removeAgedOf>[2] = null;
  for (let count = 0; count < portionsMax && !watch.isStopped; count += 1) {
    const { isLast, next = null } = await removeAgedOf(platform, due, after);
    if (isLast) return;
    after = next;
  }
}
