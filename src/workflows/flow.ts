import type { StepCall } from '../activities/flow-step.js';
import type { FlowRun } from '../kernel/flow-run.js';
import { isAway, persist } from './persistence.js';

/** Whether the last step of this flow has recorded its end. Every workflow has modules of its own. */
let isRecorded = false;

export const isEndRecorded = (): boolean => isRecorded;

/** Runs a step for as long as what it needs is away. */
export function step<Input, Output>(
  activity: (call: StepCall<Input>) => Promise<Output>,
  run: FlowRun,
  input: Input,
): Promise<Output> {
  return persist(() => activity({ run, input }), { isWorthIt: isAway });
}

/** Runs the step that ends a flow: its transaction completes the execution too. */
export function lastStep<Input, Output>(
  activity: (call: StepCall<Input>) => Promise<Output>,
  run: FlowRun,
  input: Input,
): Promise<Output> {
  const isWorthIt = isAway;
  return persist(() => activity({ run, input, isLast: true }), { isWorthIt }).then((output) => {
    isRecorded = true;
    return output;
  });
}
