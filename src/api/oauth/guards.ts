import type { Context } from 'koa';
import { Problem, problem } from '../../kernel/problem.js';
import { hasPerUserClient } from '../../platform/oauth/mcp-clients.js';
import type { Platform } from '../../platform/platform.js';
import { publicUrlFor } from '../../platform/public-url.js';
import type { Guard } from '../mount.js';
import { findTarget } from './authorization.js';
import { openToOrigins } from './cross-origin.js';
import { codeOf, isFault } from './fault.js';
import { withParameters } from './redirect-uri.js';

/** RFC 7591, section 3.2.2: which code a refused body has. */
function asRegistrationFault(error: unknown): unknown {
  if (!isFault(error) || error.kind !== 'validation') return error;
  const field = error.details['field'];
  const isAboutUris = typeof field === 'string' && field.startsWith('redirect_uris');
  const code = codeOf(error, isAboutUris ? 'invalid_redirect_uri' : 'invalid_client_metadata');
  return new Problem('validation', error.message, { ...error.details, code });
}

/** The endpoint exists while some MCP client uses per-user OAuth (document 3, section 1). */
const guardRegistration =
  (platform: Platform): Guard =>
  async (ctx, answer) => {
    openToOrigins(ctx);
    try {
      if (!(await hasPerUserClient(platform.database.platform))) {
        throw problem.notFound('No MCP client of this instance uses per-user OAuth.');
      }
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

/**
 * Faults go back to the client by redirect where its redirect URI can be trusted, and are answered
 * with 400 where it cannot (0-decisions.md, section 4).
 */
const guardAuthorization =
  (platform: Platform): Guard =>
  async (ctx, answer) => {
    try {
      await answer();
    } catch (error) {
      if (!isFault(error)) throw error;
      const isTrusted = await findTarget(platform, ctx.query).then(
        () => true,
        (fault: unknown) => {
          if (isFault(fault)) return false;
          throw fault;
        },
      );
      if (!isTrusted) {
        const code = codeOf(error, 'invalid_request');
        throw new Problem('validation', error.message, { ...error.details, code });
      }
      redirectFault(ctx, error, publicUrlFor(platform.config.publicUrl, ctx.host));
    }
  };

/** What surrounds the two operations of document 3, by operation id. */
export const oauthGuards = (platform: Platform): Readonly<Record<string, Guard>> => ({
  registerClient: guardRegistration(platform),
  authorizeClient: guardAuthorization(platform),
});
