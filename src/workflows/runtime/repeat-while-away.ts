import {
  ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { awayFailureType } from '../../messages/flow-run.js';
import { isOverBudget, outOfTime } from './time-of-flow.js';
import { isOutOfTime } from './failure.js';

const delayMinMs = 1_000;
const delayMaxMs = 30_000;

/** The failure of a step; a local activity fails with its own, without an ActivityFailure around it. */
const failureOfStep = (error: unknown): unknown =>
  error instanceof ActivityFailure ? error.cause : error;

/** Whether a failed step may succeed later: anything but an error that says that it will not. */
export function mayPass(error: unknown): boolean {
  if (isCancellation(error)) return false;
  const failure = failureOfStep(error);
  if (failure instanceof ApplicationFailure) return failure.nonRetryable !== true;
  return failure instanceof TimeoutFailure;
}

/**
 * Whether what a step needs is away: other errors do not pass by waiting. A short step that is not done
 * in its seconds has a database that does not answer. A long one that was alive to the end of its time
 * takes longer than it may, and would again.
 */
export function isAway(error: unknown): boolean {
  const failure = failureOfStep(error);
  if (failure instanceof ApplicationFailure) return failure.type === awayFailureType;
  return failure instanceof TimeoutFailure && !isOutOfTime(error);
}

interface Persistence<Input> {
  /** Whether to try again after an error. */
  readonly isWorthIt: (error: unknown) => boolean;
  /** The input for a new run, when the history has grown long; a flow, limited in time, has none. */
  readonly restart?: () => Input;
  /** Whether it ends with the time of its flow. */
  readonly isLimited?: boolean;
  /** Whether to give up after so many failures, and to let whoever started it try again later. */
  readonly isEnough?: (failures: number) => boolean;
}

/**
 * Repeats a step until it succeeds, for as long as it takes, with growing delays: what it waits for
 * (the database) comes back some day, and the Temporal UI shows who waits.
 */
export function persist<Input, Output>(
  step: () => Promise<Output>,
  persistence: Persistence<Input>,
  delayMs = delayMinMs,
  failures = 1,
): Promise<Output> {
  const { isWorthIt, isEnough, restart, isLimited = false } = persistence;
  // Not `await`: the SDK keeps a stack for each promise, which costs a tenth of a millisecond.
  return step().catch(async (error: unknown) => {
    if (!isWorthIt(error) || isEnough?.(failures) === true) throw error;
    if (isLimited && isOverBudget(delayMs)) throw outOfTime(error);
    if (restart && workflowInfo().continueAsNewSuggested) {
      await continueAsNew<(input: Input) => Promise<unknown>>(restart());
    }
    await sleep(delayMs, { summary: 'a step failed and will be tried again' });
    return persist(step, persistence, Math.min(2 * delayMs, delayMaxMs), failures + 1);
  });
}
