import type { Context } from 'koa';
import { Problem, problem } from '../../kernel/problem.js';
import type { OauthClient } from '../../access/oauth/clients.js';
import { hasPerUserClient } from '../../access/oauth/mcp-clients.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor } from '../../platform/config/public-url.js';
import { clientOf, type Guard } from '../mount-operations.js';
import { findTarget } from './authorization.js';
import { openToOrigins } from '../guards/open-to-origins.js';
import { codeOf, isFault } from './oauth-fault.js';
import { showPage } from '../pages/show-page.js';
import { isLocal, withParameters } from './redirect-uri.js';

/** RFC 7591, section 3.2.2: which code a refused body has. */
function asRegistrationFault(error: unknown): unknown {
  if (!isFault(error) || error.kind !== 'validation') return error;
  const field = error.details['field'];
  const isAboutUris = typeof field === 'string' && field.startsWith('redirect_uris');
  const code = codeOf(error, isAboutUris ? 'invalid_redirect_uri' : 'invalid_client_metadata');
  return new Problem('validation', error.message, { ...error.details, code });
}

/** The endpoint exists while some MCP client uses per-user OAuth (spec/gateway.md R12). */
const guardRegistration =
  (platform: Platform): Guard =>
  async (ctx, answer) => {
    openToOrigins(ctx);
    try {
      if (!(await hasPerUserClient(platform.database.platform))) {
        throw problem.notFound('No MCP client of this instance uses per-user OAuth.');
      }
      const client = clientOf(ctx, platform);
      platform.addressLimits.check('register', client);
      platform.addressLimits.count('register', client);
      await answer();
    } catch (error) {
      const seconds = error instanceof Problem ? error.details['retryAfterSeconds'] : undefined;
      if (typeof seconds === 'number') ctx.set('Retry-After', String(seconds));
      throw asRegistrationFault(error);
    }
  };

/** What a client is told by way of the browser (RFC 6749, section 4.1.2.1; RFC 9207). */
function redirectFault(ctx: Context, error: Problem, issuer: string): void {
  const { redirect_uri: redirectUri, state } = ctx.query;
  ctx.body = null;
  ctx.status = 302;
  ctx.set(
    'Location',
    withParameters(String(redirectUri), {
      error: codeOf(error, 'invalid_request'),
      error_description: error.message.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'"),
      state: typeof state === 'string' ? state : null,
      iss: issuer,
    }),
  );
}

/** A page in place of a redirect: what was asked is wrong, and nobody vouches for who asked. */
function showFault(ctx: Context, { message }: Problem): void {
  const { host, protocol } = new URL(String(ctx.query['redirect_uri']));
  showPage(ctx, 400, 'refusal', {
    title: 'This request cannot be answered',
    message: `An application at ${host || protocol} asked for access in a way that is not valid: ${message}.`,
    advice: 'Nothing was allowed. You may close this page.',
  });
}

/**
 * Whether a redirect before any consent would lead users of a public instance to where a stranger
 * wants them (RFC 9700, section 4.11.2; docs/decisions/0199).
 */
const isOpenRedirect = ({ config }: Platform, ctx: Context, client: OauthClient): boolean =>
  config.publicUrl.startsWith('https:') &&
  !isLocal(String(ctx.query['redirect_uri'])) &&
  !client.usedAt;

/**
 * Faults go back to the client by redirect where its redirect URI can be trusted, and are answered
 * with 400 where it cannot.
 */
const guardAuthorization =
  (platform: Platform): Guard =>
  async (ctx, answer) => {
    const client = clientOf(ctx, platform);
    platform.addressLimits.check('authorize', client);
    platform.addressLimits.count('authorize', client);
    try {
      await answer();
    } catch (error) {
      if (!isFault(error)) throw error;
      const client = await findTarget(platform, ctx.query).catch((fault: unknown) => {
        if (isFault(fault)) return undefined;
        throw fault;
      });
      const isOpen = client !== undefined && isOpenRedirect(platform, ctx, client);
      if (isOpen && ctx.accepts('json', 'html') === 'html') {
        showFault(ctx, error);
        return;
      }
      if (!client || isOpen) {
        const code = codeOf(error, 'invalid_request');
        throw new Problem('validation', error.message, { ...error.details, code });
      }
      redirectFault(ctx, error, publicUrlFor(platform.config.publicUrl, ctx.host));
    }
  };

/** What surrounds registration and authorization, by operation id. */
export const oauthGuards = (platform: Platform): Readonly<Record<string, Guard>> => ({
  registerClient: guardRegistration(platform),
  authorizeClient: guardAuthorization(platform),
});
