import cors from '@koa/cors';
import type { Middleware } from 'koa';

/**
 * Lets pages of these origins call the API and read its answers (docs/decisions/0141). Tokens travel
 * in a header that only the page itself can set, so no credentials of the browser are allowed.
 */
export function allowOrigins(origins: readonly string[]): Middleware {
  const allowed = new Set(origins);
  return cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
      return allowed.has(origin) ? origin : '';
    },
    allowMethods: 'GET,HEAD,POST,PUT,DELETE',
    allowHeaders: 'authorization,content-type,idempotency-key,x-request-id,mcp-protocol-version',
    exposeHeaders:
      'Content-Disposition,ETag,Retry-After,WWW-Authenticate,X-Request-Id,' +
      'X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset',
    maxAge: 600,
  });
}
