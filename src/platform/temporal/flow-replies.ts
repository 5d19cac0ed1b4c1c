import type { FlowOutcome } from '../../messages/flow-run.js';

/** A request that waits for the end of an execution. */
export interface FlowReply {
  /** Resolves when the execution ends in this process, which may be never. */
  readonly outcome: Promise<FlowOutcome>;
  /** Waits no longer. */
  stop(): void;
}

type Listener = (outcome: FlowOutcome) => void;

/**
 * Notifies requests of this process of the outcome of their flows right after the commit: polling
 * Temporal would take as long as the flow itself. Requests in other processes have to poll.
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

  notify(executionId: string, outcome: FlowOutcome): void {
    for (const listener of this.#listeners.get(executionId) ?? []) listener(outcome);
  }
}
