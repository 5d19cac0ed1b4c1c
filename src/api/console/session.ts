import type Router from '@koa/router';
import type { Context } from 'koa';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { Problem, problem } from '../../kernel/problem.js';
import { consoleClientId } from '../../access/oauth/console-client.js';
import { shownPath } from '../../platform/log.js';
import { publicUrlFor } from '../../platform/config/public-url.js';
import type { Platform } from '../../process/platform.js';
import { presentProblem } from '../presenters/problem.js';
import { clientOf } from '../mount-operations.js';
import { revokeToken } from '../oauth/revocation.js';
import { issueTokens } from '../oauth/token.js';
import {
  forgetRefreshToken,
  isFromConsole,
  keepRefreshToken,
  refreshTokenOf,
} from './session-cookie.js';

export const sessionPath = '/console/session';

/**
 * For how long a refresh token that was exchanged is taken once more. A page that is loaded again
 * before the answer has come, and two tabs at once, have only the one before (docs/decisions/0406).
 */
const leewayMs = 30_000;

/** The token, and what the page shows of whom it speaks for. */
async function renew(ctx: Context, platform: Platform): Promise<object> {
  const refreshToken = refreshTokenOf(ctx, platform);
  if (refreshToken === undefined) throw problem.unauthorized('Nobody is signed in.');
  const form = new Map([
    ['grant_type', 'refresh_token'],
    ['client_id', consoleClientId],
    ['refresh_token', refreshToken],
  ]);
  const issuer = publicUrlFor(platform.config.publicUrl, ctx.host);
  const tokens = await issueTokens(platform, form, issuer, leewayMs);
  const { tenantId, roles, subject, grant } = await platform.tokens.verify(tokens.access_token);
  if (tokens.refresh_token !== undefined) keepRefreshToken(ctx, platform, tokens.refresh_token);
  return {
    accessToken: tokens.access_token,
    expiresInSeconds: tokens.expires_in,
    scopes: tokens.scope.split(' '),
    tenantId,
    roles,
    subject,
    grantId: grant?.id,
  };
}

/** Ends what the sign-in gave, every token of it. */
async function signOut(ctx: Context, platform: Platform): Promise<void> {
  const token = refreshTokenOf(ctx, platform);
  forgetRefreshToken(ctx, platform);
  if (token === undefined) return;
  const form = new Map([
    ['client_id', consoleClientId],
    ['token', token],
  ]);
  await revokeToken(platform, form);
}

/** 401 and the cookie gone, where what it holds is no longer good. */
function refuse(ctx: Context, error: unknown, platform: Platform): void {
  const known = error instanceof Problem ? error : databaseProblem(error);
  if (!known) platform.log.error({ err: error, path: shownPath(ctx.path) }, 'request failed');
  const failure = known ?? new Problem('internal', 'Something went wrong on our side.');
  const isEnded = failure.kind === 'validation' || failure.kind === 'unauthorized';
  if (isEnded) forgetRefreshToken(ctx, platform);
  const told = isEnded ? problem.unauthorized(failure.message) : failure;
  const { retryAfterSeconds } = failure.details;
  if (typeof retryAfterSeconds === 'number') ctx.set('Retry-After', String(retryAfterSeconds));
  ctx.status = told.status;
  ctx.body = presentProblem('billing', told, ctx.path);
}

/**
 * The session of a browser: its refresh token is in a cookie that no page can read and that is sent
 * here alone; a page gets the access token and keeps it in memory (spec/beyond.md R362).
 */
export function mountSession(router: Router, platform: Platform): void {
  const endpoint =
    (work: (ctx: Context, platform: Platform) => Promise<object | void>) =>
    async (ctx: Context): Promise<void> => {
      const client = clientOf(ctx, platform);
      try {
        if (!isFromConsole(ctx, platform)) {
          throw problem.forbidden('Only pages of this instance may ask for its session.');
        }
        platform.addressLimits.check('token', client);
        const result = await work(ctx, platform);
        ctx.status = result ? 200 : 204;
        if (result) ctx.body = result;
      } catch (error) {
        const isGuess = refreshTokenOf(ctx, platform) !== undefined;
        if (isGuess && error instanceof Problem && error.status < 429) {
          platform.addressLimits.count('token', client);
        }
        refuse(ctx, error, platform);
      }
    };
  router.post(sessionPath, endpoint(renew));
  router.delete(sessionPath, endpoint(signOut));
}
