import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isFlowRun } from '../../messages/flow-run.js';
import type { RetryPage, UsageRange } from '../../messages/usage-workflow.js';
import { inputOfCall } from '../../messages/workflow-signature.js';
import type { ChangeNotices } from '../../platform/change-notices.js';

/**
 * Notifies of what the steps of workflows have changed, once each is committed: whatever changes data is a
 * workflow (docs/decisions/0460).
 */
export const notifyChanges =
  (changes: ChangeNotices): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const result: unknown = await next(input);
        const { workflowType = '' } = info;
        const run = inputOfCall(workflowType, input.args[0]);
        if (isFlowRun(run)) {
          changes.notify(run.tenantId, { usage: false, executions: [run.executionId] });
        } else if (workflowType === 'retryUsage') {
          const { tenantId, executionId } = run as RetryPage;
          const executions = executionId === undefined ? null : [executionId];
          changes.notify(tenantId, { usage: true, executions });
        } else if (workflowType === 'rateUsage') {
          changes.notify((run as UsageRange).tenantId, { usage: true, executions: [] });
        }
        return result;
      },
    },
  });
