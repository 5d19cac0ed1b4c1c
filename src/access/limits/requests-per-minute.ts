import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Logger } from '../../platform/log.js';
import type { Tenant } from '../tenants.js';
import { Refusals, type Refused } from './refusals.js';

/** Requests a minute of the plans (spec/platform.md R43); enterprise has a number of its own. */
const requestsOfPlan = { standard: 100, premium: 1000, enterprise: 1000 } as const;

const windowSeconds = 60;

/** The state of a tenant's limit in the current minute. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When the minute ends, in Unix seconds. */
  readonly resetAt: number;
  readonly retryAfterSeconds: number;
  readonly isExceeded: boolean;
}

/** Counts the requests of tenants across all processes. */
export interface RateLimits {
  /** Counts a request of a tenant under its plan; those of its own workflows apart, up to the same number. */
  countRequest(tenantId: string, by?: 'clients' | 'workflows'): Promise<RateLimitState>;
  /** Counts usage events; undefined where the instance does not limit them. */
  countEvents(tenantId: string, events: number): Promise<RateLimitState | undefined>;
  /** Counts a request of a tenant that was refused, for whichever limit. */
  noteRefusal(tenantId: string): void;
  /** How a tenant stands in the running minute, and what was refused to it; counts nothing. */
  standing(tenantId: string): Promise<Standing>;
}

/** Of a limit, how much is used in the running minute: all of it, where more was refused. */
interface Used {
  readonly limit: number;
  readonly used: number;
}

interface Standing {
  readonly requests: Used;
  /** Null: the instance does not limit them. */
  readonly usageEvents: Used | null;
  readonly refused: Refused;
}

/** How long another process may use a stale plan. */
const planMs = 1_000;
const limitersMax = 200;
const tenantsMax = 10_000;

type PlanRow = Pick<Tenant, 'plan' | 'requestLimit'>;

const limitOf = (row: PlanRow | undefined): number => {
  const plan = row?.plan ?? 'standard';
  return (plan === 'enterprise' ? row?.requestLimit : null) ?? requestsOfPlan[plan];
};

/** Reads the limits of tenants; without the database, the last known ones. */
function planReader(db: Knex): (tenantId: string) => Promise<number> {
  const known = new LRUCache<string, { readonly limit: number; readonly at: number }>({
    max: tenantsMax,
  });
  return async (tenantId) => {
    const last = known.get(tenantId);
    const now = performance.now();
    if (last && now - last.at < planMs) return last.limit;
    try {
      const row = await db<Tenant>('tenant')
        .first<PlanRow | undefined>('plan', 'requestLimit')
        .where({ id: tenantId });
      const limit = limitOf(row);
      known.set(tenantId, { limit, at: now });
      return limit;
    } catch {
      return last?.limit ?? requestsOfPlan.standard;
    }
  };
}

/** A limiter for each number of points; they share the table and the keys. */
function limiterCache(db: Knex): (points: number) => RateLimiterPostgres {
  const limiters = new LRUCache<number, RateLimiterPostgres>({ max: limitersMax });
  return (points) => {
    const known = limiters.get(points);
    if (known) return known;
    const rule = { keyPrefix: '', points, duration: windowSeconds };
    const limiter = new RateLimiterPostgres({
      ...rule,
      storeClient: db,
      storeType: 'knex',
      tableName: 'rate_limit',
      tableCreated: true,
      // One limiter clears the table of keys that have long expired.
      clearExpiredByTimeout: points === requestsOfPlan.standard,
      // A tenant above its limit is refused until the minute ends, without a query.
      inMemoryBlockOnConsumed: points + 1,
      // While the database is unavailable, each process counts by itself.
      insuranceLimiter: new RateLimiterMemory(rule),
    });
    limiters.set(points, limiter);
    return limiter;
  };
}

export function openRequestsPerMinute(
  db: Knex,
  { ingestEventsPerMinute, log }: { ingestEventsPerMinute: number | undefined; log: Logger },
): RateLimits {
  const readPlan = planReader(db);
  const limiterOf = limiterCache(db);
  const refusals = new Refusals(db);
  const usedOf = async (key: string, limit: number): Promise<Used> => {
    const counted = await limiterOf(limit).get(key);
    return { limit, used: Math.min(limit, counted?.consumedPoints ?? 0) };
  };
  const count = async (key: string, limit: number, points: number): Promise<RateLimitState> => {
    let isExceeded = false;
    const counted = await limiterOf(limit)
      .consume(key, points)
      .catch((error: unknown) => {
        isExceeded = error instanceof RateLimiterRes;
        if (error instanceof RateLimiterRes) return error;
        // Nothing that goes wrong with counting may stop the work.
        log.warn({ err: error }, 'cannot count requests');
        return new RateLimiterRes(limit, windowSeconds * 1000);
      });
    const { msBeforeNext, remainingPoints } = counted;
    return {
      limit,
      isExceeded,
      remaining: Math.max(0, remainingPoints),
      resetAt: Math.ceil((Date.now() + msBeforeNext) / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
    };
  };
  return {
    countRequest: async (tenantId, by = 'clients') =>
      count(
        `${by === 'clients' ? 'request' : 'workflow'}/${tenantId}`,
        await readPlan(tenantId),
        1,
      ),
    async countEvents(tenantId, events) {
      if (ingestEventsPerMinute === undefined) return undefined;
      return count(`event/${tenantId}`, ingestEventsPerMinute, Math.max(1, events));
    },
    noteRefusal: (tenantId) => refusals.note(tenantId),
    standing: async (tenantId) => ({
      requests: await usedOf(`request/${tenantId}`, await readPlan(tenantId)),
      usageEvents:
        ingestEventsPerMinute === undefined
          ? null
          : await usedOf(`event/${tenantId}`, ingestEventsPerMinute),
      refused: await refusals.of(tenantId),
    }),
  };
}
