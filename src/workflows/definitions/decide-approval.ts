import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { decidedSignal, type AskedDecision } from '../../messages/definitions/approval.js';
import type { FlowRun } from '../../messages/flow-run.js';
import { lastStep } from '../runtime/flow-step.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { shortSteps } from '../runtime/step-timeouts.js';

/**
 * Approves or rejects what waits for it (docs/decisions/0420) in one step; afterwards it wakes the
 * execution of a definition that waits.
 */
export async function decideApproval(run: FlowRun<AskedDecision>) {
  const decided = await lastStep(shortSteps.decideApproval, run, run.input);
  if (decided.execution !== null && decided.status !== 'pending') await wakeWaiter(run);
  return decided;
}

async function wakeWaiter(run: FlowRun<AskedDecision>): Promise<void> {
  const input = run.input.approvalId;
  const waiter = await persist(() => shortSteps.findApprovalWaiter({ run, input }), {
    isWorthIt: isAway,
  });
  if (!waiter) return;
  const { workflowId, seq } = waiter;
  // One that has ended meanwhile has nothing to hear.
  await getExternalWorkflowHandle(workflowId)
    .signal(decidedSignal, seq)
    .catch(() => undefined);
}
