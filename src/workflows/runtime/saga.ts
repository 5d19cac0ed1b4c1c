import { CancellationScope, isCancellation, log } from '@temporalio/workflow';
import { takingBack } from './budget.js';
import { failed, failureOf } from './failure.js';

interface Step {
  readonly step: string;
  readonly takeBack: () => Promise<unknown>;
}

/** Registers how to take back a step, by the step's name, before the step: it may have happened. */
type Undo = (step: string, takeBack: () => Promise<unknown>) => void;

/** A step that could not be taken back, and why. */
interface NotUndone {
  readonly step: string;
  readonly message: string;
}

/** Takes back every step, the newest first: one that cannot be taken back keeps none of the others. */
async function takeAllBack(done: readonly Step[]): Promise<readonly NotUndone[]> {
  const notUndone: NotUndone[] = [];
  for (const { step, takeBack } of done) {
    try {
      await takeBack();
    } catch (error) {
      log.error('a step could not be taken back', { step, error });
      notUndone.push({ step, message: failureOf(error).message });
    }
  }
  return notUndone;
}

/**
 * Runs steps that are taken back, the newest first, when one of them fails or the flow is cancelled. The
 * failure is the first one, and says which steps were taken back and which could not be.
 */
export async function saga<T>(steps: (undo: Undo) => Promise<T>): Promise<T> {
  const done: Step[] = [];
  try {
    return await steps((step, takeBack) => done.unshift({ step, takeBack }));
  } catch (error) {
    const notUndone = await CancellationScope.nonCancellable(() =>
      takingBack(() => takeAllBack(done)),
    );
    if (isCancellation(error)) throw error;
    const failure = failureOf(error);
    const kept = new Set(notUndone.map(({ step }) => step));
    const undone = done.map(({ step }) => step).filter((step) => !kept.has(step));
    const details = { ...failure.details, undone, ...(kept.size === 0 ? {} : { notUndone }) };
    throw failed({ ...failure, details }, error);
  }
}
