import type Router from '@koa/router';
import type { Context } from 'koa';

/**
 * Lets pages of any origin read an answer. These endpoints look at no cookie, so that nothing is
 * done in the name of whoever looks at the page.
 */
export function openToOrigins(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
}

/** Answers what browsers ask before they send a request of another origin (CORS preflight). */
export function mountPreflight(router: Router, path: string, methods: string): void {
  router.options(path, (ctx: Context) => {
    openToOrigins(ctx);
    ctx.set('Access-Control-Allow-Methods', methods);
    ctx.set('Access-Control-Allow-Headers', 'authorization, content-type, mcp-protocol-version');
    ctx.set('Access-Control-Max-Age', '86400');
    ctx.status = 204;
  });
}
