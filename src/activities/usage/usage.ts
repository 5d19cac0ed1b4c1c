import type { UsageEnds } from '../../commands/usage/usage-batch.js';
import { retryUsagePage } from '../../commands/usage/retry-usage.js';
import type {
  RetryPage,
  RetryPageResult,
  UsageRange,
  UsageRangeResult,
} from '../../messages/usage-workflow.js';
import type { Platform } from '../../process/platform.js';
import { rateRange } from './rate-range.js';
import { currentRun, workflowScope } from '../scope.js';

/** Told by a step that is done, so that whoever waits in this process need not ask Temporal. */
export type OnRated = (range: UsageRange) => void;

export function usageActivities(platform: Platform, onRated: OnRated) {
  const { log, metrics } = platform;
  const onCommitted = ({ rated, duplicate, rejected }: UsageEnds): void => {
    metrics.usageRated.inc(rated);
    metrics.usageDuplicates.inc(duplicate);
    for (const [reason, count] of rejected) metrics.usageRejected.inc({ reason }, count);
  };
  return {
    /** Rates a stretch of the log: all of it, or as much as is rated in a moment. */
    async rateUsageRange(range: UsageRange): Promise<UsageRangeResult> {
      const scope = workflowScope(platform, range.tenantId, 'usage');
      const endTimer = metrics.ratingSeconds.startTimer();
      const result = await rateRange(platform, scope, range, onCommitted);
      endTimer();
      onRated(range);
      return result;
    },

    /** Rates a page of rejected events once more. */
    retryUsagePage(page: RetryPage): Promise<RetryPageResult> {
      const scope = workflowScope(platform, page.tenantId, page.actor);
      return retryUsagePage(scope, {
        page,
        ...currentRun(),
        onFault: (error) => log.error({ err: error, ...page }, 'rating met an error of ours'),
      });
    },
  };
}
