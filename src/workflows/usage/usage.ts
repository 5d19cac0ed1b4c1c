import { continueAsNew, patched, workflowInfo } from '@temporalio/workflow';
import type { FlowRun } from '../../messages/flow-run.js';
import type {
  AmendEventInput,
  CancelEventInput,
  RepriceInput,
  RerateInput,
  UsageRange,
  UsageRangeResult,
  UsageRetry,
  UsageRetryResult,
} from '../../messages/usage-workflow.js';
import { isAway, mayPass, persist } from '../runtime/repeat-while-away.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { longCorrections, longSteps, shortSteps } from '../runtime/proxies.js';

/** Failures of a range after which it ends: each is of three attempts. */
const failuresMax = 2;

/**
 * Rates a stretch of the usage log, or the first part of one that takes long. What fails again and again
 * ends as failed: the consumer tries it later, and meanwhile its place is another's
 * (docs/decisions/0187-ranges-that-can-never-be-rated.md).
 */
export function rateUsage(range: UsageRange): Promise<UsageRangeResult> {
  return persist(() => shortSteps.rateUsageRange(range), {
    isWorthIt: mayPass,
    isEnough: (failures) => failures >= failuresMax,
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

/**
 * Whether a correction of one event is a long step: those that were begun before 0385 are local
 * activities, and go on so.
 */
const correcting = (): Pick<typeof longCorrections, 'cancelUsageEvent' | 'amendUsageEvent'> =>
  patched('corrections-are-long') ? longCorrections : shortSteps;

/** Cancels a usage event (docs/decisions/0371): all of it is one step. */
export const cancelUsageEvent = (run: FlowRun<CancelEventInput>) =>
  lastStep(correcting().cancelUsageEvent, run, run.input);

/** Gives a usage event other content; all of it is one step, too. */
export const amendUsageEvent = (run: FlowRun<AmendEventInput>) =>
  lastStep(correcting().amendUsageEvent, run, run.input);

/** Rates a range again with what is in force now (docs/decisions/0372). */
export async function rerateUsage(run: FlowRun<RerateInput>) {
  const { input } = run;
  await step(shortSteps.beginRerating, run, input);
  return lastStep(longCorrections.rerateUsage, run, input);
}

/**
 * Says what usage would cost with other prices (docs/decisions/0376). How far it is stands in the
 * database: a step that is repeated goes on from there.
 */
export async function repriceUsage(run: FlowRun<RepriceInput>, isResumed = false) {
  if (!isResumed) await step(shortSteps.beginRepricing, run, run.input);
  const call = { run, input: null };
  const patiently = <T>(work: () => Promise<T>): Promise<T> => persist(work, { isWorthIt: isAway });
  while (!isResumed && (await patiently(() => longSteps.removeOldRepricings(call))));
  for (;;) {
    const { isDone } = await patiently(() => longSteps.repriceUsage(call));
    if (isDone) break;
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof repriceUsage>(run, true);
    }
  }
  return lastStep(longSteps.endRepricing, run, null);
}
