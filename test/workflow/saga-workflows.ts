/** Workflows of `saga.test.ts`, which run in the sandbox as those of the product do. */
import { ApplicationFailure, proxyLocalActivities } from '@temporalio/workflow';
import type { FlowRun } from '../../src/messages/flow-run.js';
import { step } from '../../src/workflows/runtime/flow.js';
import { saga } from '../../src/workflows/runtime/saga.js';

interface Acts {
  act(name: string): Promise<void>;
}

const { act } = proxyLocalActivities<Acts>({
  startToCloseTimeout: '5 s',
  retry: { maximumAttempts: 1 },
});

/** Three steps; the last one fails, and so do the undos that are named. */
export const threeSteps = (): Promise<void> =>
  saga(async (undo) => {
    for (const step of ['a', 'b', 'c']) {
      undo(step, () => act(`undo ${step}`));
      await act(step);
    }
    throw ApplicationFailure.nonRetryable('The first cause.', 'Problem', {
      kind: 'conflict',
      message: 'The first cause.',
      details: { field: 'x' },
    });
  });

/** Two steps; what the second one needs is away for longer than the flow may take. */
export const twoSteps = (run: FlowRun): Promise<void> =>
  saga(async (undo) => {
    for (const name of ['a', 'b']) {
      undo(name, () => act(`undo ${name}`));
      await step(({ input }: { readonly input: string }) => act(input), run, name);
    }
  });
