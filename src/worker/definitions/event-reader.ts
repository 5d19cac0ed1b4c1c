import { claimWakes, readOutEvents } from '../../activities/workflows/listener.js';
import { heardSignal } from '../../messages/definitions/event.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { watchCells, type Stoppable } from '../watch.js';

/** How often it looks; a look costs two indexes. */
const everyMs = 500;

/** Tells executions what they have heard; one that does not exist any more hears nothing. */
async function wakeAll({ temporal, log }: Platform, cell: Cell): Promise<void> {
  const found = await claimWakes(cell);
  const wakes = found.map(async ({ workflowId, seq }) => {
    try {
      await temporal.waiter.workflow.getHandle(workflowId).signal(heardSignal, seq);
    } catch (error) {
      log.info({ err: error, workflowId }, 'cannot wake a workflow that has heard its event');
    }
  });
  await Promise.all(wakes);
}

/** Reads out events to the tasks of tenants' workflows that listen (docs/decisions/0402). */
export function startEventReader(platform: Platform): Stoppable {
  return watchCells(platform, (cell) => ({
    everyMs,
    failure: 'cannot read out events to workflows; trying again',
    look: async (watch) => {
      try {
        for (let isMore = true; isMore && !watch.isStopped;) {
          isMore = await readOutEvents(platform, cell);
        }
      } finally {
        await wakeAll(platform, cell);
      }
    },
  }));
}
