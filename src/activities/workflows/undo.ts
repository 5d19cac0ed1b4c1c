import type { KeptUndos, Undo } from '../../messages/definitions/task.js';
import { WorkflowUndos } from '../../models/workflows/undo.js';
import type { Platform } from '../../process/platform.js';
import { activityFailure } from '../failure.js';
import { outerScope, type StepCall } from '../flows/flow-step.js';

/** What takes tasks back, kept outside of the history where it is much (docs/decisions/0491). */
export function undoActivities(platform: Platform) {
  return {
    /** Keeps a block of calls; repeated, it is the same block. */
    async keepUndos({ run, input: { block, calls } }: StepCall<KeptUndos>): Promise<void> {
      try {
        const { db, tenantId } = await outerScope(platform, run);
        const kept = { block, calls: JSON.stringify(calls) };
        await db.transaction((trx) => WorkflowUndos.keep(trx, tenantId, run.executionId, kept));
      } catch (error) {
        throw activityFailure(error);
      }
    },

    /** Reads a block of calls; one that was never kept has none. */
    async readUndos({ run, input: block }: StepCall<number>): Promise<readonly Undo[]> {
      try {
        const { db, tenantId } = await outerScope(platform, run);
        const calls = await WorkflowUndos.read(db.read, tenantId, run.executionId, block);
        return calls === undefined ? [] : (JSON.parse(calls) as Undo[]);
      } catch (error) {
        throw activityFailure(error);
      }
    },
  };
}
