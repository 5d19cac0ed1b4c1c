import { Context } from '@temporalio/activity';
import { PoolShares } from '../platform/database/pool-shares.js';
import { activityFailure } from './failure.js';

/** How often a long step tells that it lives. */
const heartbeatMs = 2_000;

/**
 * Long steps that this process does at the same time: two of a tenant, three of all. Each of them is a
 * second of work and more, and many at once would only be done later, and everything else with them
 * (docs/decisions/0213). Waiting for a place ends within the ten minutes that a step may take.
 */
const places = new PoolShares({ max: 4, share: 0.5, waitMs: 9 * 60_000, waitersMax: 10_000 });

/** Does the work of a tenant's long step when there is a place for it, and tells meanwhile that it lives. */
export async function alive<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    await places.enter(tenantId);
    try {
      return await work();
    } finally {
      places.leave(tenantId);
    }
  } catch (error) {
    throw activityFailure(error);
  } finally {
    clearInterval(timer);
  }
}
