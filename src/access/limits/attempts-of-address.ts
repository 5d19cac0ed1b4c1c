import { LRUCache } from 'lru-cache';
import { problem } from '../../kernel/problem.js';
import type { ClientAddress } from '../client-address.js';
import type { Metrics } from '../../platform/metrics.js';

/**
 * Limits by address and minute for requests without authentication: failed bearer values, failed
 * sign-ins at the consent screen, failed token requests, started authorizations, and client
 * registrations.
 */
const perMinute = { credential: 300, signIn: 30, token: 120, authorize: 120, register: 300 };
export type AddressLimit = keyof typeof perMinute;

/** Loopback, and a proxy that does not forward client addresses, stand for many clients. */
const manyTimes = 100;
const windowMs = 60_000;
const addressesMax = 50_000;
const knownMax = 10_000;
const knownMs = 3_600_000;

/**
 * Rate limits by address, before authentication. Each process counts by itself, and mostly
 * failures. A bearer value that was valid within the hour is never refused, so that an attacker
 * does not lock out others of the same address (docs/decisions/0172).
 */
export class AttemptsOfAddress {
  readonly #metrics: Pick<Metrics, 'refusals'>;
  readonly #counts = new LRUCache<string, { count: number; readonly endsAt: number }>({
    max: addressesMax,
  });
  readonly #known = new LRUCache<string, true>({
    max: knownMax,
    ttl: knownMs,
    ttlResolution: 1_000,
  });

  constructor(metrics: Pick<Metrics, 'refusals'>) {
    this.#metrics = metrics;
  }

  /** 429: this address has done this too often within the minute. */
  check(limit: AddressLimit, { group, isLoopback, isProxy }: ClientAddress): void {
    const counted = this.#counts.get(`${limit} ${group}`);
    const msLeft = (counted?.endsAt ?? 0) - performance.now();
    const most = perMinute[limit] * (isLoopback || isProxy ? manyTimes : 1);
    if (counted === undefined || msLeft <= 0 || counted.count < most) return;
    this.#metrics.refusals.inc({ reason: 'address' });
    const retryAfterSeconds = Math.max(1, Math.ceil(msLeft / 1000));
    throw problem.rateLimited(`Too many attempts from your address. Wait ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    });
  }

  count(limit: AddressLimit, { group }: ClientAddress): void {
    const key = `${limit} ${group}`;
    const now = performance.now();
    const counted = this.#counts.get(key);
    if (counted !== undefined && counted.endsAt > now) counted.count += 1;
    else this.#counts.set(key, { count: 1, endsAt: now + windowMs });
  }

  /** Whether a bearer value was valid lately. */
  isKnown(bearer: string): boolean {
    return this.#known.has(bearer);
  }

  remember(bearer: string): void {
    this.#known.set(bearer, true);
  }
}
