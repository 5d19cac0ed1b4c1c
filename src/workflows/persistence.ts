import {
  ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';

const delayMinMs = 1_000;
const delayMaxMs = 30_000;

/** Whether a failed step may succeed later: anything but an error that says that it will not. */
function mayPass(error: unknown): boolean {
  if (isCancellation(error)) return false;
  // A local activity fails with its own failure, without an ActivityFailure around it.
  const failure = error instanceof ActivityFailure ? error.cause : error;
  if (failure instanceof ApplicationFailure) return failure.nonRetryable !== true;
  return failure instanceof TimeoutFailure;
}

/**
 * Repeats a step until it succeeds, for as long as it takes, with growing delays: what it waits for
 * (the database) comes back some day, and the Temporal UI shows who waits. `restart` is the input for
 * a new run, when the history has grown long; a flow has none, since its execution is limited in time.
 */
export async function persist<Input, Output>(
  step: () => Promise<Output>,
  restart?: () => Input,
): Promise<Output> {
  for (let delayMs = delayMinMs; ; delayMs = Math.min(2 * delayMs, delayMaxMs)) {
    try {
      return await step();
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (restart && workflowInfo().continueAsNewSuggested) {
        await continueAsNew<(input: Input) => Promise<unknown>>(restart());
      }
      await sleep(delayMs, { summary: 'a step failed and will be tried again' });
    }
  }
}
