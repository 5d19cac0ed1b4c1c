import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { shortSteps } from '../runtime/step-timeouts.js';

/** Short steps that any worker takes: a workflow task ends with them. One that was begun is waited for. */
const stepsInTurn = proxyActivities<Activities>({
  startToCloseTimeout: '30 s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '50 ms', backoffCoefficient: 4, maximumAttempts: 3 },
});

/**
 * The short steps of an execution: local ones, but not while branches of a fork go on side by side. Local
 * steps that end one after the other come back together in a replay, so that branches would go on in
 * another order than they did.
 */
export class Steps {
  readonly inTurn = stepsInTurn;
  #forks = 0;

  get short(): Pick<typeof stepsInTurn, keyof Activities> {
    return this.#forks > 0 ? stepsInTurn : shortSteps;
  }

  async sideBySide<T>(work: () => Promise<T>): Promise<T> {
    this.#forks += 1;
    try {
      return await work();
    } finally {
      this.#forks -= 1;
    }
  }
}
