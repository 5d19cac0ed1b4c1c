import type { UsageEnds } from '../../commands/usage/usage-batch.js';
import { retryUsagePage } from '../../commands/usage/retry-usage.js';
import type {
  RetryEnd,
  RetryPage,
  RetryPageResult,
  UsageRange,
  UsageRangeResult,
} from '../../messages/usage-workflow.js';
import { Execution } from '../../models/flows/execution.js';
import type { Platform } from '../../process/platform.js';
import { rateRange } from './rate-range.js';
import { currentRun, workflowScope } from '../scope.js';

/** Called after a range is rated, so that waiting code of this process need not poll Temporal. */
export type OnRated = (range: UsageRange) => void;

export function usageActivities(platform: Platform, onRated: OnRated) {
  const { log, metrics } = platform;
  const onCommitted = ({ rated, duplicate, rejected }: UsageEnds): void => {
    metrics.usageRated.inc(rated);
    metrics.usageDuplicates.inc(duplicate);
    for (const [reason, count] of rejected) metrics.usageRejected.inc({ reason }, count);
  };
  return {
    /** Rates a range of the log, or as much of it as is rated within the time limit. */
    async rateUsageRange(range: UsageRange): Promise<UsageRangeResult> {
      const scope = await workflowScope(platform, range.tenantId, 'usage');
      const endTimer = metrics.ratingSeconds.startTimer();
      const result = await rateRange(platform, scope, range, onCommitted);
      endTimer();
      onRated(range);
      return result;
    },

    /** Rates a page of rejected events once more. */
    async retryUsagePage(page: RetryPage): Promise<RetryPageResult> {
      const scope = await workflowScope(platform, page.tenantId, page.actor);
      const { workflowId, runId } = currentRun();
      return retryUsagePage(scope, {
        page,
        workflowId,
        runId: page.executionId ?? runId,
        onFault: (error) => log.error({ err: error, ...page }, 'rating met an error of ours'),
      });
    },

    /** Records how a retry ended that has not come to its last page. */
    async endRetry(end: RetryEnd): Promise<void> {
      const { tenantId, actor, filter, executionId, startedAt, status, failure } = end;
      const { db } = await workflowScope(platform, tenantId, actor);
      const run = {
        workflow: 'retryUsage',
        workflowId: currentRun().workflowId,
        runId: executionId,
        actor,
        input: { filter },
        startedAt: new Date(startedAt),
      };
      await db.transaction((trx) =>
        Execution.endCounted(trx, tenantId, { ...run, status, failure }),
      );
    },
  };
}
