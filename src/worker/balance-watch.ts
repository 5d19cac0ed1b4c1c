import { listTenantsWithDue, settleDueOf } from '../activities/balances/settle-due.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable } from './watch.js';

/** What falls due of wallets that nobody touches is entered so soon; looking costs one index. */
const everyMs = 1_000;
/** Portions of one tenant before the others have their turn. */
const portionsMax = 50;

/**
 * Enters grants that take effect, and expires grants and holds whose time is over (docs/decisions/0390,
 * 0392). Every process with workers runs it; the lock of a wallet admits one at a time, and the next
 * finds nothing.
 */
export const startBalanceWatch = (platform: Platform): Stoppable =>
  watchCells(platform, (cell) => ({
    everyMs,
    failure: 'cannot look for grants and holds that fall due; trying again',
    look: async (watch) => {
      for (const tenantId of await listTenantsWithDue(platform, cell)) {
        // An error of one tenant must not block the following ones.
        try {
          for (let count = 0; count < portionsMax && !watch.isStopped; count += 1) {
            if (!(await settleDueOf(platform, tenantId))) break;
          }
        } catch (error) {
          platform.log.warn(
            { err: error, tenantId },
            'cannot settle grants and holds; trying again',
          );
        }
      }
    },
  }));
