import type { FlowOutcome } from '../../messages/flow-run.js';

/** Somebody who waits for the end of an execution. */
export interface FlowReply {
  /** Resolves when the execution ends in this process, which may be never. */
  readonly outcome: Promise<FlowOutcome>;
  /** Waits no longer. */
  stop(): void;
}

type Listener = (outcome: FlowOutcome) => void;

/**
 * Tells requests of this process how their flows ended, the moment that is committed: asking Temporal
 * takes as long again as the flow itself. Who is in another process has to ask.
 */
export class FlowReplies {
  readonly #listeners = new Map<string, Set<Listener>>();

  wait(executionId: string): FlowReply {
    const listeners = this.#listeners.get(executionId) ?? new Set();
    this.#listeners.set(executionId, listeners);
    let listener: Listener = () => undefined;
    const outcome = new Promise<FlowOutcome>((resolve) => {
      listener = resolve;
    });
    listeners.add(listener);
    return {
      outcome,
      stop: () => {
        listeners.delete(listener);
        if (listeners.size === 0) this.#listeners.delete(executionId);
      },
    };
  }

  tell(executionId: string, outcome: FlowOutcome): void {
    for (const listener of this.#listeners.get(executionId) ?? []) listener(outcome);
  }
}
