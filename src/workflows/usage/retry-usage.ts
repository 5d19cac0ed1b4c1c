import { workflowInfo } from '@temporalio/workflow';
import type { UsageRetry, UsageRetryResult } from '../../messages/usage-workflow.js';
import { mayPass, persist } from '../runtime/repeat-while-away.js';
import { shortSteps } from '../runtime/step-timeouts.js';

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
    if (lastId === null) return { ...counts, executionId: workflowInfo().runId };
    afterId = lastId;
  }
}
