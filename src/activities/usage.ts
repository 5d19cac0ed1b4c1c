import { ApplicationFailure } from '@temporalio/common';
import { rateUsage, UsageGapError } from '../commands/rate-usage.js';
import type { UsageEnds } from '../commands/usage-batch.js';
import { retryUsagePage } from '../commands/retry-usage.js';
import type {
  RetryPage,
  RetryPageResult,
  UsageRange,
  UsageRangeResult,
} from '../kernel/usage-workflow.js';
import { findUsageProgress } from '../queries/usage-progress.js';
import type { Platform } from '../platform/platform.js';
import { currentRun, workflowScope } from './scope.js';

/** Told by a step that is done, so that whoever waits in this process need not ask Temporal. */
export type OnRated = (range: UsageRange) => void;

/** Events of one transaction: enough that the statements' own cost no longer shows. */
const transactionEventsMax = 1000;

export function usageActivities(platform: Platform, onRated: OnRated) {
  const { broker, log, metrics, tracing } = platform;
  const onCommitted = ({ rated, duplicate, rejected }: UsageEnds): void => {
    metrics.usageRated.inc(rated);
    metrics.usageDuplicates.inc(duplicate);
    for (const [reason, count] of rejected) metrics.usageRejected.inc({ reason }, count);
  };
  return {
    /** Rates a stretch of the log, in as many transactions as its size in memory asks for. */
    async rateUsageRange(range: UsageRange): Promise<UsageRangeResult> {
      const { tenantId, partition, firstOffset, endOffset } = range;
      const scope = workflowScope(platform, tenantId, 'usage');
      const endTimer = metrics.ratingSeconds.startTimer();
      // Of several transactions, some may have been committed before this step was repeated.
      const { next, counts: total } =
        endOffset - firstOffset > 1
          ? await findUsageProgress(scope, { partition, from: firstOffset, end: endOffset })
          : { next: firstOffset, counts: { rated: 0, duplicate: 0, rejected: 0 } };
      for (let offset = next; offset < endOffset;) {
        const { records, nextOffset } = await broker.read(
          tenantId,
          partition,
          offset,
          Math.min(endOffset, offset + transactionEventsMax),
        );
        if (nextOffset === offset) throw new Error(`The log has no offset ${offset} to read yet.`);
        tracing?.link(records.flatMap(({ trace }) => trace ?? []));
        const counts = await rateUsage(scope, {
          ...{ partition, from: offset, end: nextOffset, records, ...currentRun() },
          onFault: (error) => log.error({ err: error, ...range }, 'rating met an error of ours'),
          onRated: onCommitted,
        }).catch((error: unknown) => {
          if (!(error instanceof UsageGapError)) throw error;
          throw ApplicationFailure.nonRetryable(error.message, 'UsageGap');
        });
        total.rated += counts.rated;
        total.duplicate += counts.duplicate;
        total.rejected += counts.rejected;
        offset = nextOffset;
      }
      endTimer();
      onRated(range);
      return total;
    },

    /** Rates a page of rejected events once more. */
    retryUsagePage(page: RetryPage): Promise<RetryPageResult> {
      const scope = workflowScope(platform, page.tenantId, page.actor);
      return retryUsagePage(scope, {
        ...{ page, ...currentRun() },
        onFault: (error) => log.error({ err: error, ...page }, 'rating met an error of ours'),
      });
    },
  };
}
