import {
  correctEvent,
  prepareCorrection,
  type PreparedCorrection,
} from '../../commands/usage/corrections/correct-event.js';
import { prepareRerating, rerateUsage } from '../../commands/usage/corrections/rerate-usage.js';
import { readAmendment } from '../../commands/usage/corrections/read-amendment.js';
import type { Scope } from '../../kernel/scope.js';
import type {
  AmendEventInput,
  CancelEventInput,
  RerateInput,
} from '../../messages/usage-workflow.js';
import type { Platform } from '../../process/platform.js';
import { currentPlace, flowStep, preparedStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../heartbeat.js';

export function usageCorrectionActivities(platform: Platform) {
  const correct = (scope: Scope, correction: PreparedCorrection, executionId: string) => {
    const { workflowId, runId } = currentPlace();
    return correctEvent(scope, correction, { workflowId, runId, at: scope.now(), executionId });
  };
  const rerate = preparedStep(platform, prepareRerating, rerateUsage);
  return {
    /** Cancels a usage event: what becomes of the charges is computed before anything is locked. */
    cancelUsageEvent: preparedStep(
      platform,
      (scope, input: CancelEventInput) => prepareCorrection(scope, { ...input, amended: null }),
      correct,
    ),

    /** Gives a usage event other content. */
    amendUsageEvent: preparedStep(
      platform,
      async (scope, input: AmendEventInput) =>
        prepareCorrection(scope, { ...input, amended: await readAmendment(scope, input) }),
      correct,
    ),

    /** Begins to rate a range again: from now on its execution can be read. */
    beginRerating: flowStep(platform, (_scope, input: RerateInput) => Promise.resolve(input)),

    /** Rates a range again; what becomes of the charges is computed before anything is locked. */
    rerateUsage: (call: StepCall<RerateInput>) => alive(call.run.tenantId, () => rerate(call)),
  };
}
