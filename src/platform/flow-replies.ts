import type { FlowOutcome } from '../kernel/flow-run.js';

/**
 * Tells requests of this process how their flows ended, the moment that is committed: asking Temporal
 * takes as long again as the flow itself. Who is in another process has to ask.
 */
export class FlowReplies {
  readonly #waiting = new Map<string, (outcome: FlowOutcome) => void>();

  /** Resolves when the execution ends in this process, which may be never: `stop` ends the waiting. */
  wait(executionId: string): { readonly outcome: Promise<FlowOutcome>; stop(): void } {
    const outcome = new Promise<FlowOutcome>((resolve) => this.#waiting.set(executionId, resolve));
    return { outcome, stop: () => void this.#waiting.delete(executionId) };
  }

  tell(executionId: string, outcome: FlowOutcome): void {
    this.#waiting.get(executionId)?.(outcome);
  }
}
