import type { Knex } from 'knex';
import { Problem } from '../../kernel/problem.js';
import { definitionLimits } from '../../messages/definitions/definition.js';
import type { KeptUndos, Undo } from '../../messages/definitions/task.js';
import { WorkflowUndos } from '../../models/workflows/undo.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { activityFailure } from '../failure.js';
import { outerScope, type StepCall } from '../flows/flow-step.js';

const limit = (message: string): Problem => new Problem('limitReached', message);

/** Keeps a block, if there is room: what is beside it is seen a moment before, by others, too. */
async function keep(
  trx: Knex.Transaction,
  tenantId: string,
  executionId: string,
  { block, calls }: { readonly block: number; readonly calls: string },
): Promise<void> {
  const { undoBytesKept, undoBytesOfTenant } = definitionLimits;
  const bytes = Buffer.byteLength(calls);
  const { own, all } = await WorkflowUndos.bytesBeside(trx, tenantId, executionId, block);
  if (own + bytes > undoBytesKept) {
    throw limit(
      `What takes the tasks of an execution back has at most ${undoBytesKept} bytes together. Give an ` +
        'undo the ids of what was made in place of whole records, or do parts of the work in executions ' +
        'of their own.',
    );
  }
  if (all + bytes > undoBytesOfTenant) {
    throw limit(
      `What takes tasks back has at most ${undoBytesOfTenant} bytes in all executions that run. Run fewer ` +
        'at a time, or give an undo the ids of what was made in place of whole records.',
    );
  }
  await WorkflowUndos.keep(trx, tenantId, executionId, { block, calls });
}

/** What takes tasks back, kept outside of the history where it is much (docs/decisions/0491). */
export function undoActivities(platform: Platform) {
  return {
    /** Keeps a block of calls; repeated, it is the same block. */
    async keepUndos({ run, input: { block, calls } }: StepCall<KeptUndos>): Promise<void> {
      try {
        const { db, tenantId } = await outerScope(platform, run);
        const kept = { block, calls: JSON.stringify(calls) };
        await db.transaction((trx) => keep(trx, tenantId, run.executionId, kept));
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

/** Removes some of what would have taken back tasks of executions that have ended; whether there may be more. */
export const removeEndedUndos = ({ platform }: Cell): Promise<boolean> =>
  WorkflowUndos.removeEnded(platform);
