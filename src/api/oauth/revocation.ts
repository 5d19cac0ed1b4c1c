import { Problem } from '../../kernel/problem.js';
import { findRefreshToken, revokeGrant } from '../../platform/oauth/grants.js';
import type { Platform } from '../../platform/platform.js';
import { oauthFault } from './fault.js';
import { required, type Form } from './form.js';
import { requireClient } from './token.js';

interface TokenOwner {
  readonly grantId: string;
  readonly clientId: string;
}

/** Whose token it is, a refresh token or an access token; undefined when it is none of ours. */
async function ownerOf(platform: Platform, token: string): Promise<TokenOwner | undefined> {
  const stored = await findRefreshToken(platform.database.platform, token);
  if (stored) return { grantId: stored.grantId, clientId: stored.grant.clientId };
  try {
    const { grant } = (await platform.tokens.verify(token)).identity;
    return grant && { grantId: grant.id, clientId: grant.clientId };
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
  const owner = await ownerOf(platform, required(form, 'token'));
  if (!owner) return;
  if (owner.clientId !== client.id) {
    throw oauthFault('invalid_grant', 'The token was issued to another client.');
  }
  await revokeGrant(platform.database.platform, owner.grantId, platform.now());
}
