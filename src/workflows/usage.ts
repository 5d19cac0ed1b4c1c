import type {
  UsageRange,
  UsageRangeResult,
  UsageRetry,
  UsageRetryResult,
} from '../kernel/usage-workflow.js';
import { mayPass, persist } from './persistence.js';
import { shortSteps } from './proxies.js';

/** Rates a stretch of the usage log; ends only when every event of it is accounted for. */
export function rateUsage(range: UsageRange): Promise<UsageRangeResult> {
  return persist(() => shortSteps.rateUsageRange(range), {
    isWorthIt: mayPass,
    restart: () => range,
  });
}

/** A retry, and where a run that took over from another goes on. */
interface ResumedRetry extends UsageRetry {
  readonly afterId?: string | null;
  readonly until?: string;
}

/** Rates rejected events once more, page by page, in the order in which they arrived. */
export async function retryUsage(retry: ResumedRetry): Promise<UsageRetryResult> {
  const { tenantId, actor, filter } = retry;
  const until = retry.until ?? new Date().toISOString();
  let afterId = retry.afterId ?? null;
  for (;;) {
    const page = { tenantId, actor, filter, until, afterId };
    const { counts, lastId } = await persist(() => shortSteps.retryUsagePage(page), {
      isWorthIt: mayPass,
      restart: () => page,
    });
    if (lastId === null) return counts;
    afterId = lastId;
  }
}
