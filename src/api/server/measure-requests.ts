import type { Context, Middleware, Next } from 'koa';
import type { Platform } from '../../process/platform.js';
import { routesOf, type RequestState } from '../mount-operations.js';

/** What was asked for: the id of an operation, else the template of the path. */
const operationOf = (ctx: Context): string =>
  (ctx.state as RequestState).operation?.id ?? routesOf(ctx)[0]?.path ?? 'unrouted';

/** Counts answers by operation and status, and how long they took; the level debug has a line for each. */
export function measureRequests({ metrics, log }: Platform): Middleware {
  const { httpRequests, httpSeconds } = metrics;
  return async (ctx: Context, next: Next) => {
    const since = performance.now();
    try {
      await next();
    } finally {
      const operation = operationOf(ctx);
      httpRequests.inc({ operation, status: ctx.status });
      const ms = performance.now() - since;
      httpSeconds.observe({ operation }, ms / 1000);
      if (log.isLevelEnabled('debug')) {
        const { requestId, tenantId } = ctx.state as RequestState;
        log.debug({ requestId, tenantId, operation, status: ctx.status, ms }, 'request');
      }
    }
  };
}
