import { patched } from '@temporalio/workflow';
import type { FlowRun } from '../../messages/flow-run.js';
import type {
  AmendEventInput,
  CancelEventInput,
  DismissalInput,
  DismissalPage,
  RerateInput,
} from '../../messages/usage-workflow.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { longCorrections, shortSteps } from '../runtime/step-timeouts.js';

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

/** Half as many as a retry has: the end of a page holds other corrections up (docs/decisions/0521). */
const pageSize = 500;

/** Dismisses rejected events of a filter, page by page (docs/decisions/0521). */
export async function dismissUsageEvents(run: FlowRun<DismissalInput>) {
  const { filter, reason, max, until = new Date().toISOString() } = run.input;
  let dismissed = 0;
  let beforeId: string | null = null;
  for (let left = max; left > 0;) {
    const size = Math.min(pageSize, left);
    const page: DismissalPage = { filter, reason, until, beforeId, size };
    const done = await step(shortSteps.dismissPage, run, page);
    dismissed += done.dismissed;
    left -= done.taken ?? size;
    beforeId = done.lastId;
    if (beforeId === null) break;
  }
  return lastStep(shortSteps.endDismissal, run, { dismissed, isComplete: beforeId === null });
}
