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
  readonly #unwritten = new Map<string, number>();
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

  note(tenantId: string, count = 1): void {
    this.#unwritten.set(tenantId, (this.#unwritten.get(tenantId) ?? 0) + count);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => void this.#write(), flushMs).unref();
  }

  async of(tenantId: string): Promise<Refused> {
    const unwritten = this.#unwritten.get(tenantId) ?? 0;
    const written = await this.#counts.get(keyOf(tenantId));
    const count = unwritten + (written?.consumedPoints ?? 0);
    if (count === 0) return { count, since: null };
    const passedMs = written === null ? 0 : windowMs - written.msBeforeNext;
    return { count, since: new Date(Date.now() - passedMs) };
  }

  async #write(): Promise<void> {
    const counts = [...this.#unwritten];
    this.#unwritten.clear();
    this.#isPlanned = false;
    for (const [tenantId, count] of counts) {
      try {
        await this.#counts.penalty(keyOf(tenantId), count);
      } catch {
        // A database that is away: it is written with what comes.
        this.note(tenantId, count);
      }
    }
  }
}

const keyOf = (tenantId: string): string => `refused/${tenantId}`;
