import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { isOauthScope, scopeNames } from '../../kernel/oauth-scope.js';
import { plainName } from '../../kernel/text/shown-name.js';
import { addressMark, insertOauthClient, type OauthClient } from '../../access/oauth/clients.js';
import { purgeOauth } from '../../access/oauth/remove-expired.js';
import type { Platform } from '../../process/platform.js';
import type * as schema from '../../schemas/access/oauth.js';
import { oauthFault } from './oauth-fault.js';
import { checkRedirectUri } from './redirect-uri.js';

type Registration = Static<typeof schema.ClientRegistration>;
type RegisteredClient = Static<typeof schema.RegisteredClient>;

const supportedGrantTypes = ['authorization_code', 'refresh_token'];

/** RFC 7591, section 2: what is not supported is dropped; without a code there is no way in. */
function grantTypesOf({ grant_types: asked = ['authorization_code'] }: Registration): string[] {
  const granted = supportedGrantTypes.filter((name) => asked.includes(name));
  if (granted.includes('authorization_code')) return granted;
  throw oauthFault(
    'invalid_client_metadata',
    "'grant_types' must include authorization_code",
    'grant_types',
  );
}

/** RFC 7591, section 2.1: the response type of the authorization code is code. */
function checkResponseTypes({ response_types: asked = ['code'] }: Registration): void {
  if (asked.includes('code')) return;
  throw oauthFault(
    'invalid_client_metadata',
    "'response_types' must include code",
    'response_types',
  );
}

/** Unknown scopes are dropped; with none left the client may ask for any. */
function scopesOf({ scope = '' }: Registration): string[] | null {
  const known = scopeNames(scope).filter(isOauthScope);
  return known.length === 0 ? null : known;
}

/** RFC 7591, section 3.2.1; members without a value are left out. */
function presentClient({ id, name, redirectUris, grantTypes, scopes, createdAt }: OauthClient) {
  return {
    client_id: id,
    client_id_issued_at: Math.floor(createdAt.getTime() / 1000),
    ...(name === null ? {} : { client_name: name }),
    redirect_uris: [...redirectUris],
    grant_types: [...grantTypes],
    response_types: ['code'],
    token_endpoint_auth_method: 'none' as const,
    ...(scopes === null ? {} : { scope: scopes.join(' ') }),
  };
}

/** Who registers a client, and with which request. */
interface Registrant {
  readonly address: string;
  readonly requestId: string;
  readonly callerRequestId?: string | undefined;
}

/**
 * Registers a client. 400: `invalid_redirect_uri`,
 * `invalid_client_metadata`. 429: too many from one address.
 */
export async function registerClient(
  { database, config, now }: Platform,
  body: Registration,
  { address, ...request }: Registrant,
): Promise<RegisteredClient> {
  body.redirect_uris.forEach((uri, index) => checkRedirectUri(uri, `redirect_uris[${index}]`));
  checkResponseTypes(body);
  const client: OauthClient = {
    id: randomUUID(),
    name: plainName(body.client_name),
    redirectUris: body.redirect_uris,
    grantTypes: grantTypesOf(body),
    mayRefresh: body.grant_types?.includes('refresh_token') ?? true,
    scopes: scopesOf(body),
    createdAt: now(),
  };
  await insertOauthClient(database.platform, client, addressMark(address, config.secret), request);
  await purgeOauth(database.platform, client.createdAt);
  return presentClient(client);
}
