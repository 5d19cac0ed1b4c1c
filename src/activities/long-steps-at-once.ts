import { Context } from '@temporalio/activity';
import { PoolShares } from '../platform/database/pool-shares.js';
import { activityFailure } from './failure.js';
import { beating } from './heartbeat.js';

/**
 * Maximum long steps of this process at the same time: two of a tenant, three of all. Each takes a
 * second or more, so more of them would delay each other and all other work (docs/decisions/0213).
 * Waiting for a place ends within the timeout of a step, ten minutes.
 */
const places = new PoolShares({ max: 4, share: 0.5, waitMs: 9 * 60_000, waitersMax: 10_000 });

/** Runs a tenant's long step when there is a place for it, and sends heartbeats meanwhile. */
export async function alive<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await beating(Context.current(), async () => {
      await places.enter(tenantId);
      try {
        return await work();
      } finally {
        places.leave(tenantId);
      }
    });
  } catch (error) {
    throw activityFailure(error);
  }
}
