import { problem } from '../../kernel/problem.js';
import type { Metrics } from '../../platform/metrics.js';

/** Streams of a tenant at once, in one process: each keeps two connections of the database busy. */
const placesMax = 2;

/** Bounds how much of one tenant is under way that lasts as long as its reader likes. */
export class ExportsAtOnce {
  readonly #metrics: Pick<Metrics, 'refusals'>;
  readonly #taken = new Map<string, number>();

  constructor(metrics: Pick<Metrics, 'refusals'>) {
    this.#metrics = metrics;
  }

  /** Takes a place until the function that is returned is called. 429: the tenant has all of its own. */
  enter(tenantId: string): () => void {
    const taken = this.#taken.get(tenantId) ?? 0;
    if (taken >= placesMax) {
      this.#metrics.refusals.inc({ reason: 'share' });
      throw problem.rateLimited(
        `${placesMax} exports of yours are under way; wait until one has ended.`,
        { retryAfterSeconds: 10 },
      );
    }
    this.#taken.set(tenantId, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#taken.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#taken.delete(tenantId);
      else this.#taken.set(tenantId, left);
    };
  }
}
