import { problem } from '../../kernel/problem.js';

/** Streams of events in one process: of all tenants, and of one. Each takes some 15 KB. */
const streamsMax = { all: 5_000, tenant: 500 };

/** Bounds the streams of events of a process, and ends them with it. */
export class StreamsAtOnce {
  /** What ends each stream, by tenant. */
  readonly #open = new Map<string, Set<() => void>>();
  #count = 0;
  #isEnded = false;

  /** Takes a place until the function that is returned is called. 429: the tenant has all of its own. */
  enter(tenantId: string, end: () => void): () => void {
    if (this.#isEnded) throw problem.overloaded('This process is about to end.');
    const own = this.#open.get(tenantId) ?? new Set();
    if (own.size >= streamsMax.tenant) {
      throw problem.rateLimited(`${streamsMax.tenant} streams of yours are open in this process.`, {
        retryAfterSeconds: 30,
      });
    }
    if (this.#count >= streamsMax.all) throw problem.overloaded('Too many streams are open.');
    this.#open.set(tenantId, own.add(end));
    this.#count += 1;
    return () => {
      if (!own.delete(end)) return;
      this.#count -= 1;
      if (own.size === 0) this.#open.delete(tenantId);
    };
  }

  /** Ends all of them, and those that would begin. */
  endAll(): void {
    this.#isEnded = true;
    for (const own of this.#open.values()) for (const end of [...own]) end();
  }
}
