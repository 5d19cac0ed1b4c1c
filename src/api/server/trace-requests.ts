import type { Context, Middleware, Next } from 'koa';
import { traceHeader } from '../../messages/trace.js';
import type { Tracing } from '../../platform/tracing.js';
import { routesOf, type RequestState } from '../mount-operations.js';

/** The template of the address: its ids would give every request a name of its own. */
const routeOf = (ctx: Context): string | undefined =>
  (ctx.state as RequestState).operation?.path ?? routesOf(ctx)[0]?.path;

/** Gives every request a span, below that of its caller where it names one (`traceparent`). */
export function traceRequests(tracing: Tracing): Middleware {
  return (ctx: Context, next: Next) => {
    const parent = ctx.get(traceHeader);
    const start = { name: ctx.method, kind: 'server', parent } as const;
    return tracing.inSpan(start, async (span) => {
      try {
        await next();
      } finally {
        const { requestId, tenantId, operation } = ctx.state as RequestState;
        const route = routeOf(ctx);
        if (route !== undefined) span.rename(`${ctx.method} ${route}`);
        span.set({
          'http.request.method': ctx.method,
          'http.route': route,
          'http.response.status_code': ctx.status,
          'durabill.operation': operation?.id,
          'durabill.request_id': requestId,
          'durabill.tenant_id': tenantId === '' ? undefined : tenantId,
        });
        if (ctx.status >= 500) span.fail(String(ctx.status));
      }
    });
  };
}
