import { removeEndedUndos } from '../../activities/workflows/undo.js';
import type { Platform } from '../../process/platform.js';
import { watchCells, type Stoppable } from '../watch.js';

/** How often it looks; a look costs one index. */
const everyMs = 5_000;

/** Removes what would have taken back tasks of executions that have ended (docs/decisions/0491). */
export function startUndoRemover(platform: Platform): Stoppable {
  return watchCells(platform, (cell) => ({
    everyMs,
    failure: 'cannot remove what took tasks of workflows back; trying again',
    look: async (watch) => {
      while (!watch.isStopped && (await removeEndedUndos(cell)));
    },
  }));
}
