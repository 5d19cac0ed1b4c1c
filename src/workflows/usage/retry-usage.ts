import {
  CancellationScope,
  ContinueAsNew,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { RetryEnd, UsageRetry, UsageRetryResult } from '../../messages/usage-workflow.js';
import { failureOf } from '../runtime/failure.js';
import { mayPass, persist } from '../runtime/repeat-while-away.js';
import { shortSteps } from '../runtime/step-timeouts.js';

/** A retry, and where a run that took over from another goes on. */
interface ResumedRetry extends UsageRetry {
  readonly afterId?: string | null;
  readonly until?: string;
}

/** Rates rejected events once more, page by page, in the order in which they arrived. */
async function retryPages(retry: ResumedRetry, executionId: string): Promise<UsageRetryResult> {
  const { tenantId, actor, filter } = retry;
  const until = retry.until ?? new Date().toISOString();
  let afterId = retry.afterId ?? null;
  for (;;) {
    // Without the id, which the next run finds itself: with it, an input is taken for that of a flow.
    const page = { tenantId, actor, filter, until, afterId };
    const step = () => shortSteps.retryUsagePage({ ...page, executionId });
    const { counts, lastId } = await persist(step, { isWorthIt: mayPass, restart: () => page });
    if (lastId === null) return { ...counts, executionId };
    afterId = lastId;
  }
}

/**
 * A retry of rejected usage. Its execution has the id of its first run, which it keeps where it goes on
 * in another (docs/decisions/0541).
 */
export async function retryUsage(retry: ResumedRetry): Promise<UsageRetryResult> {
  const executionId = workflowInfo().firstExecutionRunId;
  try {
    return await retryPages(retry, executionId);
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    const { tenantId, actor, filter } = retry;
    const startedAt = workflowInfo().startTime.toISOString();
    const of = { tenantId, actor, filter, executionId, startedAt };
    const end: RetryEnd = isCancellation(error)
      ? { ...of, status: 'canceled' }
      : { ...of, status: 'failed', failure: failureOf(error) };
    await CancellationScope.nonCancellable(() =>
      persist(() => shortSteps.endRetry(end), { isWorthIt: mayPass }),
    );
    throw error;
  }
}
