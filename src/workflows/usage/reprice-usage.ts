import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { FlowRun } from '../../messages/flow-run.js';
import type { PromoteInput, RepriceInput } from '../../messages/usage-workflow.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { longSteps, shortSteps } from '../runtime/step-timeouts.js';

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

/** Puts what was tried in force (docs/decisions/0523): all of it is one step. */
export const promoteRepricing = (run: FlowRun<PromoteInput>) =>
  lastStep(shortSteps.promoteRepricing, run, run.input);
