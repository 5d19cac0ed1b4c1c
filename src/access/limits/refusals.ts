import type { Knex } from 'knex';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

const windowMs = 3_600_000;
const flushMs = 1_000;

/** What was refused to a tenant in the hour that its first refusal began. */
export interface Refused {
  readonly count: number;
  /** Null: nothing was. */
  readonly since: Date | null;
}

/**
 * Counts the requests that tenants were refused (429), across all processes. Refusing is cheap, and so is
 * counting it: a process writes at most once a second of each tenant.
 */
export class Refusals {
  readonly #counts: RateLimiterPostgres;
  readonly #unwritten = new Map<string, { readonly count: number; readonly sinceMs: number }>();
  #isPlanned = false;

  constructor(db: Knex) {
    this.#counts = new RateLimiterPostgres({
      keyPrefix: '',
      points: 1,
      duration: windowMs / 1000,
      storeClient: db,
      storeType: 'knex',
      tableName: 'rate_limit',
      tableCreated: true,
      // The limiter of requests clears the table.
      clearExpiredByTimeout: false,
    });
  }

  note(tenantId: string): void {
    this.#add(tenantId, 1, Date.now());
  }

  #add(tenantId: string, count: number, sinceMs: number): void {
    const known = this.#unwritten.get(tenantId) ?? { count: 0, sinceMs };
    this.#unwritten.set(tenantId, { ...known, count: known.count + count });
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => void this.#write(), flushMs).unref();
  }

  async of(tenantId: string): Promise<Refused> {
    const unwritten = this.#unwritten.get(tenantId);
    const written = await this.#counts.get(keyOf(tenantId));
    const count = (unwritten?.count ?? 0) + (written?.consumedPoints ?? 0);
    if (count === 0) return { count, since: null };
    const sinceMs =
      written === null ? unwritten?.sinceMs : Date.now() + written.msBeforeNext - windowMs;
    return { count, since: sinceMs === undefined ? null : new Date(sinceMs) };
  }

  async #write(): Promise<void> {
    const counts = [...this.#unwritten];
    this.#unwritten.clear();
    this.#isPlanned = false;
    for (const [tenantId, { count, sinceMs }] of counts) {
      // The hour begins with the first refusal, not with its writing; a duration has whole seconds.
      const customDuration = Math.floor((windowMs - (Date.now() - sinceMs)) / 1000);
      try {
        await this.#counts.penalty(keyOf(tenantId), count, { customDuration });
      } catch {
        // A database that is away: it is written with what comes.
        this.#add(tenantId, count, sinceMs);
      }
    }
  }
}

const keyOf = (tenantId: string): string => `refused/${tenantId}`;
