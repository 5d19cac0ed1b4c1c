import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { failed, failureOf } from './failure.js';

/** Registers how to take back a step, by the step's name, before the step: it may have happened. */
type Undo = (step: string, takeBack: () => Promise<unknown>) => void;

/**
 * Runs steps that are taken back, the newest first, when one of them fails or the flow is cancelled;
 * the failure says which.
 */
export async function saga<T>(steps: (undo: Undo) => Promise<T>): Promise<T> {
  const done: { readonly step: string; readonly takeBack: () => Promise<unknown> }[] = [];
  try {
    return await steps((step, takeBack) => done.unshift({ step, takeBack }));
  } catch (error) {
    await CancellationScope.nonCancellable(async () => {
      for (const { takeBack } of done) await takeBack();
    });
    if (isCancellation(error)) throw error;
    const failure = failureOf(error);
    const undone = done.map(({ step }) => step);
    throw failed({ ...failure, details: { ...failure.details, undone } }, error);
  }
}
