import { defined } from '../../kernel/defined.js';
import { isUuid } from '../../kernel/id.js';
import { findOauthClient, type OauthClient } from '../../access/oauth/clients.js';
import {
  endGrant,
  exchangeSecret,
  findCode,
  findRefreshToken,
  type Grant,
  type StoredCode,
  type StoredRefreshToken,
  type WithGrant,
} from '../../access/oauth/grants.js';
import type { Platform } from '../../process/platform.js';
import { findGrantFault } from '../../access/token-revocations.js';
import { readResource } from './authorization.js';
import { oauthFault, unknownClient } from './oauth-fault.js';
import { required, type Form } from './form.js';
import {
  checkSameRedirectUri,
  codeChecks,
  narrowScopes,
  refreshTokenChecks,
} from './token-checks.js';
import { checkVerifier, checkVerifierForm } from './pkce.js';

const accessTokenSeconds = 3_600;

/** How long an access token lives: no longer than the credential that its user signed in with. */
const lifeOf = ({ endsAt }: Grant, now: Date): number =>
  endsAt === null
    ? accessTokenSeconds
    : Math.min(accessTokenSeconds, Math.floor((endsAt.getTime() - now.getTime()) / 1000));

/** RFC 6749, section 5.1. */
interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
}

/** A token request; `issuer` is the address under which the client knows this instance. */
interface Asked {
  readonly platform: Platform;
  readonly client: OauthClient;
  readonly form: Form;
  readonly issuer: string;
  /** For how long a refresh token that was exchanged is taken once more; see docs/decisions/0406. */
  readonly leewayMs: number;
}

/** RFC 6749, section 2.3: a public client only names itself. */
export async function requireClient({ database }: Platform, form: Form): Promise<OauthClient> {
  const id = required(form, 'client_id');
  const client = isUuid(id) ? await findOauthClient(database.platform, id) : undefined;
  if (!client) throw unknownClient();
  return client;
}

/** RFC 8707, section 2.2: only the resource that the user consented to. */
function checkSameResource(grant: Grant, form: Form, issuer: string): void {
  const resource = form.get('resource');
  if (resource === undefined || readResource(resource, issuer) === grant.resource) return;
  throw oauthFault('invalid_target', `'resource' must be ${grant.resource}`, 'resource');
}

/**
 * Refuses a secret that was exchanged before, and revokes its grant: the secret has leaked (RFC
 * 6749, section 4.1.2; RFC 9700, section 4.14.2).
 */
async function refuseReplay({ database, now }: Platform, grant: Grant): Promise<never> {
  const reason = 'a code or refresh token was used twice';
  await endGrant(database.platform, grant, now(), { action: 'replay', reason });
  throw oauthFault('invalid_grant', 'It was used before; what came of it is revoked.');
}

/**
 * Refuses a grant whose user's credential has ended since, such as a revoked access key: it ends
 * the grant. Grants of a suspended tenant are refused until it is resumed.
 */
async function checkGranter({ database, now }: Platform, grant: Grant): Promise<void> {
  const fault = await findGrantFault(database.platform, grant, now());
  if (fault === undefined) return;
  if (fault === 'unknown') throw oauthFault('invalid_grant', 'The tenant does not exist.');
  if (fault === 'suspended') throw oauthFault('invalid_grant', 'The tenant is suspended.');
  const reason = 'its credential has ended';
  await endGrant(database.platform, grant, now(), { action: 'revoke', reason });
  throw oauthFault('invalid_grant', 'The access key or token that allowed it has ended.');
}

async function exchange(
  { platform, client, issuer, leewayMs }: Asked,
  kind: 'code' | 'refreshToken',
  stored: WithGrant<StoredCode | StoredRefreshToken>,
  scopes: readonly string[],
): Promise<TokenAnswer> {
  const { database, tokens, now } = platform;
  const { grant } = stored;
  const { mayRefresh } = client;
  await checkGranter(platform, grant);
  const expiresInSeconds = lifeOf(grant, now());
  if (expiresInSeconds < 1) throw oauthFault('invalid_grant', 'What allowed it ends now.');
  const exchanged = await exchangeSecret(database.platform, kind, stored, {
    mayRefresh,
    now: now(),
    leewayMs,
  });
  if (!exchanged) return refuseReplay(platform, grant);
  const { tenantId, orgId, roles, subject, resource } = grant;
  const accessToken = await tokens.issue({
    tenantId,
    orgId,
    roles,
    subject,
    expiresInSeconds,
    oauth: { grant: { id: grant.id, clientId: client.id, scopes }, resource, issuer },
  });
  const { refreshToken } = exchanged;
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    ...defined({ refresh_token: refreshToken }),
    scope: scopes.join(' '),
  };
}

/** RFC 6749, section 4.1.3. */
async function exchangeCode(asked: Asked): Promise<TokenAnswer> {
  const { platform, client, form, issuer } = asked;
  const code = required(form, 'code');
  const redirectUri = required(form, 'redirect_uri');
  const verifier = required(form, 'code_verifier');
  checkVerifierForm(verifier);
  const stored = await findCode(platform.database.platform, code);
  if (!stored) throw oauthFault('invalid_grant', 'The code is not known.');
  const request = { client, now: platform.now() };
  const isReplay = stored.consumedAt !== null && stored.grant.clientId === client.id;
  if (isReplay) return refuseReplay(platform, stored.grant);
  for (const check of codeChecks) check(stored, request);
  checkSameRedirectUri(stored, redirectUri);
  checkVerifier(stored, verifier);
  checkSameResource(stored.grant, form, issuer);
  return exchange(asked, 'code', stored, stored.grant.scopes);
}

/** RFC 6749, section 6, with rotation (OAuth 2.1, section 4.3.1). */
async function exchangeRefreshToken(asked: Asked): Promise<TokenAnswer> {
  const { platform, client, form, issuer, leewayMs } = asked;
  const { database, now } = platform;
  const stored = await findRefreshToken(database.platform, required(form, 'refresh_token'));
  if (!stored) throw oauthFault('invalid_grant', 'The refresh token is not known.');
  const replayedAfter = now().getTime() - (stored.consumedAt?.getTime() ?? now().getTime());
  const isReplay = stored.consumedAt !== null && replayedAfter >= leewayMs;
  if (isReplay && stored.grant.clientId === client.id) return refuseReplay(platform, stored.grant);
  for (const check of refreshTokenChecks) check(stored, { client, now: now() });
  checkSameResource(stored.grant, form, issuer);
  const scopes = narrowScopes(stored.grant, form.get('scope'));
  return exchange(asked, 'refreshToken', stored, scopes);
}

const grantTypes: Readonly<Record<string, typeof exchangeCode>> = {
  authorization_code: exchangeCode,
  refresh_token: exchangeRefreshToken,
};

/**
 * Gives a client its tokens (RFC 6749, section 3.2). 400: `invalid_request`, `invalid_grant`,
 * `invalid_scope`, `invalid_target`, `unauthorized_client`, `unsupported_grant_type`. 401:
 * `invalid_client`.
 */
export async function issueTokens(
  platform: Platform,
  form: Form,
  issuer: string,
  leewayMs = 0,
): Promise<TokenAnswer> {
  const grantType = required(form, 'grant_type');
  const client = await requireClient(platform, form);
  const issue = Object.hasOwn(grantTypes, grantType) ? grantTypes[grantType] : undefined;
  if (!issue) {
    const known = Object.keys(grantTypes).join(' or ');
    throw oauthFault('unsupported_grant_type', `'grant_type' must be ${known}`, 'grant_type');
  }
  return issue({ platform, client, form, issuer, leewayMs });
}
