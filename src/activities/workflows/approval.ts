import { decideApproval } from '../../commands/workflows/approval.js';
import { lookAtApproval, openApproval } from '../../commands/workflows/asked-approval.js';
import type {
  ApprovalLook,
  ApprovalState,
  ApprovalWaiter,
  AskedApproval,
  AskedDecision,
} from '../../messages/definitions/approval.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import { Approval } from '../../models/workflows/approval.js';
import type { Platform } from '../../process/platform.js';
import { activityFailure } from '../failure.js';
import { flowStep, outerScope, type StepCall } from '../flows/flow-step.js';
import { currentPlace } from '../flows/step-once.js';

export function approvalActivities(platform: Platform) {
  /**
   * Steps that an execution repeats in another history find by themselves what was done: they are not
   * kept by the number of their activity, which begins anew there.
   */
  const repeatable = async <Output>(work: () => Promise<Output>): Promise<Output> => {
    try {
      return await work();
    } catch (error) {
      throw activityFailure(error);
    }
  };
  return {
    /** Decides an approval. */
    decideApproval: flowStep(platform, (scope, asked: AskedDecision) =>
      decideApproval(scope, asked),
    ),

    /** Makes the approval that a task asks for. */
    openApproval: ({ run, input }: StepCall<AskedApproval>): Promise<void> =>
      repeatable(async () => {
        const { definitionId, starter = run.actor } = run.input as DefinitionInput;
        const { workflowId } = currentPlace();
        const { executionId } = run;
        const from = { executionId, workflowId, definitionId, startedBy: starter };
        await openApproval(await outerScope(platform, run), from, input);
      }),

    /** How the approval of a task stands; ends it where that is asked for. */
    lookAtApproval: ({ run, input }: StepCall<ApprovalLook>): Promise<ApprovalState> =>
      repeatable(async () =>
        lookAtApproval(await outerScope(platform, run), run.executionId, input),
      ),

    /** The workflow that waits for an approval; null: none does. */
    findApprovalWaiter: ({ run, input }: StepCall<string>): Promise<ApprovalWaiter | null> =>
      repeatable(async () => {
        const { db, tenantId } = await outerScope(platform, run);
        const found = await Approval.query(db.read).forTenant(tenantId).findOne({ id: input });
        const { workflowId = null, seq = null } = found ?? {};
        return workflowId === null || seq === null ? null : { workflowId, seq };
      }),
  };
}
