import { Problem } from '../../kernel/problem.js';
import { endGrant, findGrant, findRefreshToken, type Grant } from '../../access/oauth/grants.js';
import type { Platform } from '../../process/platform.js';
import { oauthFault } from './oauth-fault.js';
import { required, type Form } from './form.js';
import { requireClient } from './token.js';

/** The grant of a token, a refresh token or an access token; undefined when it is none of ours. */
async function grantOf(platform: Platform, token: string): Promise<Grant | undefined> {
  const db = platform.database.platform;
  const stored = await findRefreshToken(db, token);
  if (stored) return stored.grant;
  try {
    const { grant } = await platform.tokens.verify(token);
    return grant && (await findGrant(db, grant.id));
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unauthorized') return undefined;
    throw error;
  }
}

/**
 * Revokes a token with everything that came of the same consent (RFC 7009, section 2.1). A token
 * that is not known needs no revoking (section 2.2). 400: `invalid_request`, or `invalid_grant` for
 * the token of another client; 401 `invalid_client`.
 */
export async function revokeToken(platform: Platform, form: Form): Promise<void> {
  const client = await requireClient(platform, form);
  const grant = await grantOf(platform, required(form, 'token'));
  if (!grant) return;
  if (grant.clientId !== client.id) {
    throw oauthFault('invalid_grant', 'The token was issued to another client.');
  }
  await endGrant(platform.database.platform, grant, platform.now(), {
    action: 'revoke',
    reason: 'by its client',
  });
}
