import type Router from '@koa/router';
import type { Context } from 'koa';
import { Problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor } from '../../platform/config/public-url.js';
import { clientOf } from '../mount-operations.js';
import { mountConsent } from './consent.js';
import { mountPreflight, openToOrigins } from '../guards/open-to-origins.js';
import { answerFault } from './oauth-fault.js';
import { readForm, type Form } from './form.js';
import { paths, resourceMetadata, serverMetadata } from './metadata.js';
import { revokeToken } from './revocation.js';
import { issueTokens } from './token.js';

type Endpoint = (platform: Platform, form: Form, issuer: string) => Promise<object | void>;

const formEndpoint =
  (platform: Platform, work: Endpoint) =>
  async (ctx: Context): Promise<void> => {
    openToOrigins(ctx);
    ctx.set('Pragma', 'no-cache');
    const client = clientOf(ctx, platform);
    try {
      platform.addressLimits.check('token', client);
      const issuer = publicUrlFor(platform.config.publicUrl, ctx.host);
      ctx.body = (await work(platform, await readForm(ctx), issuer)) ?? {};
      ctx.status = 200;
    } catch (error) {
      if (error instanceof Problem && error.status < 429) {
        platform.addressLimits.count('token', client);
      }
      answerFault(ctx, error, platform);
    }
  };

function mountDocument(
  router: Router,
  { config }: Platform,
  path: string,
  contentFor: (issuer: string) => object,
): void {
  mountPreflight(router, path, 'GET');
  router.get(path, (ctx: Context) => {
    openToOrigins(ctx);
    ctx.set('Cache-Control', 'public, max-age=300');
    // One address has several names on loopback.
    ctx.vary('Host');
    ctx.body = contentFor(publicUrlFor(config.publicUrl, ctx.host));
  });
}

/** What of OAuth is no operation: tokens, revocation, metadata and the consent screen. */
export function mountOauth(router: Router, platform: Platform): void {
  mountPreflight(router, paths.register, 'POST');
  for (const [path, work] of [
    [paths.token, issueTokens],
    [paths.revoke, revokeToken],
  ] as const) {
    mountPreflight(router, path, 'POST');
    router.post(path, formEndpoint(platform, work));
  }
  const mcpPath = `${paths.resourceMetadata}${paths.mcp}`;
  mountDocument(router, platform, paths.serverMetadata, serverMetadata);
  mountDocument(router, platform, paths.resourceMetadata, (issuer) =>
    resourceMetadata(issuer, issuer),
  );
  mountDocument(router, platform, mcpPath, (issuer) =>
    resourceMetadata(issuer, `${issuer}${paths.mcp}`),
  );
  mountConsent(router, platform);
}
