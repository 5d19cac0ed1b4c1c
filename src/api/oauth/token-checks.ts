import { scopeNames } from '../../kernel/oauth-scope.js';
import type { OauthClient } from '../../access/oauth/clients.js';
import type {
  Grant,
  StoredCode,
  StoredRefreshToken,
  WithGrant,
} from '../../access/oauth/grants.js';
import { oauthFault } from './oauth-fault.js';

/** The data of a token request that a stored code or refresh token is checked against. */
export interface TokenRequest {
  readonly client: OauthClient;
  readonly now: Date;
}

type Check<T> = (stored: T, request: TokenRequest) => void;

const refuse = (message: string): never => {
  throw oauthFault('invalid_grant', message);
};

/** RFC 6749, section 5.2: issued to this client. */
const isOfClient: Check<{ readonly grant: Grant }> = ({ grant }, { client }) => {
  if (grant.clientId !== client.id) refuse('It was issued to another client.');
};

/** RFC 6749, section 4.1.2: a code lives for minutes; a refresh token for as long as it is used. */
const isCurrent: Check<{ readonly expiresAt: Date }> = ({ expiresAt }, { now }) => {
  if (expiresAt <= now) refuse('It has expired.');
};

/** RFC 7009, section 2.1, and RFC 9700, section 4.14.2: nothing of a revoked grant is valid. */
const isNotRevoked: Check<{ readonly grant: Grant }> = ({ grant }) => {
  if (grant.revokedAt) refuse('It has been revoked.');
};

/** RFC 7591, section 2: a client uses the grant types that it registered. */
const mayRefresh: Check<unknown> = (_stored, { client }) => {
  if (!client.mayRefresh) {
    throw oauthFault('unauthorized_client', 'The client did not register for refresh_token.');
  }
};

/** The checks of a code before it is exchanged. */
export const codeChecks: readonly Check<WithGrant<StoredCode>>[] = [
  isOfClient,
  isNotRevoked,
  isCurrent,
];

/** The checks of a refresh token before it is exchanged. */
export const refreshTokenChecks: readonly Check<WithGrant<StoredRefreshToken>>[] = [
  mayRefresh,
  isOfClient,
  isNotRevoked,
  isCurrent,
];

/** RFC 6749, section 4.1.3: the redirect URI of the authorization request. */
export function checkSameRedirectUri(code: StoredCode, redirectUri: string): void {
  if (code.redirectUri !== redirectUri) refuse("'redirect_uri' is not that of the request.");
}

/** RFC 6749, section 6: the granted scopes, or a subset. */
export function narrowScopes(grant: Grant, scope: string | undefined): readonly string[] {
  const asked = scopeNames(scope ?? '');
  if (asked.length === 0) return grant.scopes;
  if (asked.every((name) => grant.scopes.includes(name))) return asked;
  throw oauthFault('invalid_scope', `'scope' may hold ${grant.scopes.join(' and ')}`, 'scope');
}
