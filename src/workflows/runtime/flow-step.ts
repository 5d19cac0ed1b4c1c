import type { StepCall } from '../../activities/flows/flow-step.js';
import type { FlowRun } from '../../messages/flow-run.js';
import { isOverBudget, outOfTime } from './time-of-flow.js';
import { isAway, persist } from './repeat-while-away.js';

/** Whether the last step of this flow has recorded its end. Every workflow has modules of its own. */
let isRecorded = false;

export const isEndRecorded = (): boolean => isRecorded;

/** Of a flow that goes on in another history although its end is recorded: it does what may follow. */
export function knowEndRecorded(): void {
  isRecorded = true;
}

/** Runs a step for as long as what it needs is away, within the time of the flow. */
export function step<Input, Output>(
  activity: (call: StepCall<Input>) => Promise<Output>,
  run: FlowRun,
  input: Input,
): Promise<Output> {
  return within(() => activity({ run, input }));
}

/** A step does not begin when the time of its flow is over: nobody counts on it any more. */
function within<Output>(work: () => Promise<Output>): Promise<Output> {
  if (isOverBudget()) return Promise.reject(outOfTime(undefined));
  return persist(work, { isWorthIt: isAway, isLimited: true });
}

/** Runs the step that ends a flow: its transaction completes the execution too. */
export function lastStep<Input, Output>(
  activity: (call: StepCall<Input>) => Promise<Output>,
  run: FlowRun,
  input: Input,
): Promise<Output> {
  return within(() => activity({ run, input, isLast: true })).then((output) => {
    isRecorded = true;
    return output;
  });
}
