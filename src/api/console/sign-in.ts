import { createHash, timingSafeEqual } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { oauthScopeNames } from '../../kernel/oauth-scope.js';
import { Problem, problem } from '../../kernel/problem.js';
import { consoleClientId, ensureConsoleClient } from '../../access/oauth/console-client.js';
import { hashOf, newSecret } from '../../access/oauth/oauth-secret.js';
import { shownPath } from '../../platform/log.js';
import { publicUrlFor, publicUrls } from '../../platform/config/public-url.js';
import type { Platform } from '../../process/platform.js';
import { clientOf } from '../mount-operations.js';
import { paths } from '../oauth/metadata.js';
import { withParameters } from '../oauth/redirect-uri.js';
import { issueTokens } from '../oauth/token.js';
import { showPage } from '../pages/show-page.js';
import {
  begunSignIn,
  forgetSignIn,
  keepRefreshToken,
  keepSignIn,
  pageOf,
} from './session-cookie.js';

export const signInPath = '/console/sign-in';
export const signedInPath = '/console/signed-in';

function leadTo(ctx: Context, location: string, status: 302 | 303): void {
  // No body, which Koa would write itself.
  ctx.body = null;
  ctx.status = status;
  ctx.set('Location', location);
}

/** Begins a sign-in: PKCE, and a state that only this browser knows (RFC 9700, section 2.1.1). */
async function beginSignIn(ctx: Context, platform: Platform): Promise<void> {
  const { config, database, now } = platform;
  const issuer = publicUrlFor(config.publicUrl, ctx.host);
  const to = pageOf(ctx.query['to']);
  // The authorization server knows the console under the addresses of this instance alone.
  if (new URL(issuer).host !== ctx.host) {
    leadTo(ctx, withParameters(`${issuer}${signInPath}`, { to }), 302);
    return;
  }
  const client = clientOf(ctx, platform);
  platform.addressLimits.check('authorize', client);
  platform.addressLimits.count('authorize', client);
  await ensureConsoleClient(database.platform, publicUrls(config.publicUrl), now());
  const begun = { state: newSecret(), verifier: newSecret(), to };
  keepSignIn(ctx, platform, begun);
  const request = {
    response_type: 'code',
    client_id: consoleClientId,
    redirect_uri: `${issuer}${signedInPath}`,
    scope: oauthScopeNames.join(' '),
    state: begun.state,
    code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: issuer,
  };
  leadTo(ctx, withParameters(paths.authorize, request), 302);
}

const told = (ctx: Context, name: string): string => {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : '';
};

/** Ends a sign-in: exchanges the code for a session, and leads on to the page that was asked for. */
async function endSignIn(ctx: Context, platform: Platform): Promise<void> {
  const issuer = publicUrlFor(platform.config.publicUrl, ctx.host);
  const begun = begunSignIn(ctx, platform);
  const isOurs =
    begun !== undefined &&
    timingSafeEqual(hashOf(begun.state), hashOf(told(ctx, 'state'))) &&
    // RFC 9207, section 2.4.
    told(ctx, 'iss') === issuer;
  if (!isOurs)
    throw problem.forbidden('This sign-in was not begun in this browser, or too long ago.');
  forgetSignIn(ctx, platform);
  if (told(ctx, 'error') !== '') {
    throw problem.forbidden('Access was not allowed, so nobody is signed in.');
  }
  const client = clientOf(ctx, platform);
  platform.addressLimits.check('token', client);
  try {
    const form = new Map([
      ['grant_type', 'authorization_code'],
      ['client_id', consoleClientId],
      ['code', told(ctx, 'code')],
      ['code_verifier', begun.verifier],
      ['redirect_uri', `${issuer}${signedInPath}`],
    ]);
    const { refresh_token: refreshToken = '' } = await issueTokens(platform, form, issuer);
    keepRefreshToken(ctx, platform, refreshToken);
  } catch (error) {
    platform.addressLimits.count('token', client);
    throw error;
  }
  // The address with the code is in no history.
  leadTo(ctx, begun.to, 303);
}

function refuse(ctx: Context, error: unknown, platform: Platform): void {
  const failure = error instanceof Problem ? error : databaseProblem(error);
  if (!failure) platform.log.error({ err: error, path: shownPath(ctx.path) }, 'request failed');
  const { retryAfterSeconds } = failure?.details ?? {};
  if (typeof retryAfterSeconds === 'number') ctx.set('Retry-After', String(retryAfterSeconds));
  showPage(ctx, failure?.status ?? 500, 'refusal', {
    title: 'You are not signed in',
    message: failure?.message ?? 'Something went wrong on our side.',
    advice: 'Nothing was changed.',
    link: { href: signInPath, name: 'Sign in again' },
  });
}

/** Signing in to the console, by the authorization server of this instance (spec/beyond.md R361). */
export function mountSignIn(router: Router, platform: Platform): void {
  const page =
    (work: (ctx: Context, platform: Platform) => Promise<void>) =>
    async (ctx: Context): Promise<void> => {
      try {
        await work(ctx, platform);
      } catch (error) {
        refuse(ctx, error, platform);
      }
    };
  router.get(signInPath, page(beginSignIn));
  router.get(signedInPath, page(endSignIn));
}
