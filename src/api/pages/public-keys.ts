import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Platform } from '../../process/platform.js';

/** The public keys of the tokens that this instance signs. */
export function mountPublicKeys(router: Router, platform: Platform): void {
  router.get('/.well-known/jwks.json', async (ctx: Context) => {
    await platform.tokens.refresh();
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = platform.tokens.jwks;
  });
}
