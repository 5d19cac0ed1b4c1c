import { Connection, type Metadata } from '@temporalio/client';

/**
 * A connection that costs nothing while nothing is asked with it. Temporal's client keeps what belongs to a
 * call in an `AsyncLocalStorage`: once one was used, Node 20 calls a hook for each promise of the process,
 * which is a tenth and more of what a small request costs (docs/decisions/0546). The storage is given up with
 * the last call that is under way.
 */
export class QuietConnection extends Connection {
  #calls = 0;

  override withDeadline<T>(deadline: number | Date, work: () => Promise<T>): Promise<T> {
    return this.#count(super.withDeadline(deadline, work));
  }

  override withMetadata<T>(metadata: Metadata, work: () => Promise<T>): Promise<T> {
    return this.#count(super.withMetadata(metadata, work));
  }

  async #count<T>(calling: Promise<T>): Promise<T> {
    this.#calls += 1;
    try {
      return await calling;
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.callContextStorage.disable();
    }
  }
}
