import { problem } from '../../kernel/problem.js';
import type { Metrics } from '../../platform/metrics.js';

/** Requests under way in one process: they are published in about a second. */
const requestsMax = 1_000;
const bytesMax = 64 * 1024 * 1024;
/** The maximum size of a body: the byte share of a tenant is never less. */
const bytesLeast = 1024 * 1024;
/** How long a tenant counts as active after its last request. */
const presentMs = 1_000;

interface UnderWay {
  requests: number;
  bytes: number;
  seenAt: number;
}

/**
 * Admission control of ingestion (back-pressure). Requests under way are limited by number and by
 * size, so that usage above the publishing capacity is refused at once, and takes neither memory
 * nor time from admitted requests (docs/decisions/0151). While several tenants send, each is
 * limited to its share, and some capacity is reserved that one tenant cannot fill
 * (docs/decisions/0171).
 */
export class IngestionAtOnce {
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
   * Admits a request of so many bytes, until the returned function is called. 503: the process is
   * at capacity. 429: the tenant has reached its share, and others are active.
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
