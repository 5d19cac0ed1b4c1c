import type { Context, Middleware, Next } from 'koa';
import type { Metrics } from '../platform/metrics.js';
import { routesOf, type RequestState } from './mount.js';

/** What was asked for: the id of an operation, else the template of the path. */
const operationOf = (ctx: Context): string =>
  (ctx.state as RequestState).operation?.id ?? routesOf(ctx)[0]?.path ?? 'unrouted';

/** Counts answers by operation and status, and how long they took. */
export function measureRequests({ httpRequests, httpSeconds }: Metrics): Middleware {
  return async (ctx: Context, next: Next) => {
    const since = performance.now();
    try {
      await next();
    } finally {
      const operation = operationOf(ctx);
      httpRequests.inc({ operation, status: ctx.status });
      httpSeconds.observe({ operation }, (performance.now() - since) / 1000);
    }
  };
}
