import { listBilledTenants, markOverdue } from '../activities/billing/overdue-invoices.js';
import { utcDate } from '../kernel/time/date.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable } from './watch.js';

/** How often it checks for a new day, or a full hour. */
const everyMsByDefault = 30_000;
/**
 * Checked within a day, too: a run may post invoices that are due already, and the application of a
 * payment may be removed.
 */
const againMs = 3_600_000;

/**
 * Marks overdue invoices of each tenant at the begin of a day (UTC) and once an hour. Every process
 * with workers runs it; the first one that finds an invoice marks it.
 */
export function startOverdueWatch(platform: Platform, everyMs = everyMsByDefault): Stoppable {
  /** When each tenant was looked at last. */
  const lookedAt = new Map<string, Date>();
  return watchCells(platform, (cell) => ({
    everyMs,
    failure: 'cannot look for overdue invoices; trying again',
    look: async (watch) => {
      for (const tenantId of await listBilledTenants(platform, cell)) {
        if (watch.isStopped) return;
        const now = platform.now();
        if (isRecent(lookedAt.get(tenantId), now)) continue;
        // An error of one tenant must not block the following ones.
        try {
          await markOverdue(platform, tenantId);
          lookedAt.set(tenantId, now);
        } catch (error) {
          platform.log.warn({ err: error, tenantId }, 'cannot mark overdue invoices; trying again');
        }
      }
    },
  }));
}

function isRecent(at: Date | undefined, now: Date): boolean {
  if (!at || utcDate(at) !== utcDate(now)) return false;
  return now.getTime() - at.getTime() < againMs;
}
