import { LRUCache } from 'lru-cache';
import type { TenantDatabase } from '../kernel/scope.js';
import { readTenantClock } from '../models/sandbox/sandbox-clock.js';

/** What tells the time. */
export type Clock = () => Date;

/** Tenants that are remembered to be no sandbox. */
const tenantsMax = 50_000;

/**
 * How long it is remembered that a tenant is no sandbox: less than it takes to delete such a tenant,
 * whose name another one may have then.
 */
const trustMs = 10_000;

/**
 * The time of each tenant: the real one, or of a sandbox the instant at which its time stands
 * (docs/decisions/0381). That is read for each piece of work, so that no process has an older time
 * than another.
 */
export class TenantClocks {
  readonly #databaseOf: (tenantId: string) => TenantDatabase;
  readonly #realTime: Clock;
  readonly #ordinary = new LRUCache<string, true>({ max: tenantsMax, ttl: trustMs });

  constructor(databaseOf: (tenantId: string) => TenantDatabase, realTime: Clock) {
    this.#databaseOf = databaseOf;
    this.#realTime = realTime;
  }

  /** The clock for one piece of work of a tenant; a promise where it has to be read. */
  of(tenantId: string): Clock | Promise<Clock> {
    if (tenantId === '' || this.#ordinary.has(tenantId)) return this.#realTime;
    return this.#read(tenantId);
  }

  async #read(tenantId: string): Promise<Clock> {
    const clock = await readTenantClock(this.#databaseOf(tenantId).read, tenantId);
    if (clock) return () => new Date(clock.standsAt);
    this.#ordinary.set(tenantId, true);
    return this.#realTime;
  }
}
