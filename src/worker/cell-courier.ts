import { mirrorTo, relayEvents } from '../activities/cells/cell-courier.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable } from './watch.js';

const courierMs = 1_000;
/** Events passed on in one transaction. */
const eventsMax = 200;

/**
 * Brings to each cell what the home database knows of its tenants: security events, names,
 * suspensions and the defaults of retention. Every process with workers runs it; what comes twice changes nothing. Where there is
 * one cell, nothing has to be brought anywhere.
 */
export function startCellCourier(platform: Platform): Stoppable {
  if (platform.database.cells.length === 1) return { stop: () => Promise.resolve() };
  return watchCells(platform, (cell) => ({
    everyMs: courierMs,
    failure: `cannot bring to the cell '${cell.name}' what it has to know; trying again`,
    look: async (watch) => {
      await mirrorTo(platform, cell);
      while (!watch.isStopped && (await relayEvents(platform, cell, eventsMax)) === eventsMax);
    },
  }));
}
