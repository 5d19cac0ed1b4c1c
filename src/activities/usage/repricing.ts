import { beginRepricing } from '../../commands/usage/repricing/begin-repricing.js';
import { endRepricing } from '../../commands/usage/repricing/end-repricing.js';
import { promoteRepricing } from '../../commands/usage/repricing/promote-repricing.js';
import { removeOldRepricings } from '../../commands/usage/repricing/remove-repricings.js';
import { repriceForAWhile } from '../../commands/usage/repricing/reprice-usage.js';
import type { FlowRun } from '../../messages/flow-run.js';
import type {
  PromoteInput,
  RepriceInput,
  RepricingProgress,
} from '../../messages/usage-workflow.js';
import type { Platform } from '../../process/platform.js';
import { flowStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../long-steps-at-once.js';
import { workflowScope } from '../scope.js';

export function repricingActivities(platform: Platform) {
  const end = flowStep(platform, (scope, _input: null, id) => endRepricing(scope, id));
  const scopeOf = ({ tenantId, actor }: FlowRun) => workflowScope(platform, tenantId, actor);
  return {
    /** Begins a what-if: from now on it and its execution can be read. */
    beginRepricing: flowStep(platform, (scope, input: RepriceInput, id) =>
      beginRepricing(scope, input, id),
    ),

    /** Removes some of what older ones have left; true: there is more. */
    removeOldRepricings: ({ run }: StepCall<null>): Promise<boolean> =>
      alive(run.tenantId, async () => removeOldRepricings(await scopeOf(run))),

    /** Rates usage with the changes for some seconds. */
    repriceUsage: ({ run }: StepCall<null>): Promise<RepricingProgress> =>
      alive(run.tenantId, async () => repriceForAWhile(await scopeOf(run), run.executionId)),

    /** Ends a what-if with what it came to. */
    endRepricing: (call: StepCall<null>) => alive(call.run.tenantId, () => end(call)),

    /** Puts what was tried in force. */
    promoteRepricing: flowStep(platform, (scope, input: PromoteInput) =>
      promoteRepricing(scope, input),
    ),
  };
}
