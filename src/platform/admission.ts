import { problem } from '../kernel/problem.js';
import type { Metrics } from './metrics.js';

/** Requests that one process takes in at a time: they are published in about a second. */
const requestsMax = 1_000;
const bytesMax = 64 * 1024 * 1024;
/** The largest body of all: a share is never less. */
const bytesLeast = 1024 * 1024;
/** For how long a tenant counts as one that sends after it has sent. */
const presentMs = 1_000;

interface UnderWay {
  requests: number;
  bytes: number;
  seenAt: number;
}

/**
 * The door of ingestion. What is under way is bounded by number and by size, so that more usage than
 * can be published is refused at once, and takes neither memory nor the time of what was let in
 * (docs/decisions/0151). While several tenants send, none has more than its share under way, and there
 * is room beyond what one tenant can fill (docs/decisions/0171).
 */
export class Admission {
  readonly #share: number;
  readonly #metrics: Pick<Metrics, 'refusals'>;
  readonly #tenants = new Map<string, UnderWay>();
  readonly #all = { requests: 0, bytes: 0 };
  #sweptAt = 0;

  constructor(share: number, metrics: Pick<Metrics, 'refusals'>) {
    this.#share = share;
    this.#metrics = metrics;
  }

  /**
   * Lets a request of so many bytes in, until the function that is returned is called. 503: all that can
   * be published is under way. 429: this tenant's share of it, and others send.
   */
  enter(tenantId: string, bytes: number): () => void {
    const own = this.#tenantOf(tenantId);
    this.#check(own, bytes);
    for (const count of [own, this.#all]) {
      count.requests += 1;
      count.bytes += bytes;
    }
    return () => {
      for (const count of [own, this.#all]) {
        count.requests -= 1;
        count.bytes -= bytes;
      }
    };
  }

  #check(own: UnderWay, bytes: number): void {
    const { requests, bytes: bytesOfAll } = this.#all;
    const isAlone = this.#tenants.size === 1;
    const share = this.#share;
    const room = isAlone ? 1 : 1 + share;
    if (requests + 1 > requestsMax * room || bytesOfAll + bytes > bytesMax * room) {
      throw problem.overloaded('More usage arrives than can be taken in; send it again.');
    }
    const isOver =
      own.requests + 1 > Math.max(1, requestsMax * share) ||
      own.bytes + bytes > Math.max(bytesLeast, bytesMax * share);
    if (isAlone || !isOver) return;
    this.#metrics.refusals.inc({ reason: 'admission' });
    throw problem.rateLimited('Too much of your usage is being taken in; send it again.', {
      retryAfterSeconds: 1,
    });
  }

  #tenantOf(id: string): UnderWay {
    const now = performance.now();
    if (now - this.#sweptAt > presentMs) this.#sweep(now);
    const known = this.#tenants.get(id);
    if (known) {
      known.seenAt = now;
      return known;
    }
    const own = { requests: 0, bytes: 0, seenAt: now };
    this.#tenants.set(id, own);
    return own;
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [id, { requests, seenAt }] of this.#tenants) {
      if (requests === 0 && now - seenAt > presentMs) this.#tenants.delete(id);
    }
  }
}
