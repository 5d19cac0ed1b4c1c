import { createHash } from 'node:crypto';
import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  customFetch,
  getValidatedIdTokenClaims,
  None,
  processAuthorizationCodeResponse,
  ResponseBodyError,
  validateApplicationLevelSignature,
  validateAuthResponse,
  type AuthorizationServer,
  type Client,
  type ClientAuth,
} from 'oauth4webapi';
import { Problem, problem } from '../../kernel/problem.js';
import type {
  ProviderClaims,
  SignInProvider,
  SignInSecrets,
} from '../../messages/access/sign-in-provider.js';
import type { OidcSettings } from '../../platform/config/config-oidc.js';
import type { Logger } from '../../platform/log.js';
import { boundedFetch, type RequestBounds } from './bounded-fetch.js';
import { openDiscovery } from './discovery.js';
import { isOfToken, openKeys, readLogoutToken } from './logout-token.js';
import { problemOfProvider, providerAway } from './provider-fault.js';

const bounds: RequestBounds = { timeoutMs: 5_000, bytesMax: 256 * 1024, openMax: 20 };

/** By how much the clocks of the provider and this machine may differ. */
const toleranceSeconds = 60;

export interface ProviderOptions {
  readonly log: Logger;
  readonly now: () => Date;
  /** Where they differ from the usual; tests set them. */
  readonly bounds?: Partial<RequestBounds> | undefined;
}

/** Whether a browser alone may have caused it: it came back with an error, or a code that is none. */
const isOfBrowser = (error: unknown): boolean =>
  error instanceof AuthorizationResponseError || error instanceof ResponseBodyError;

/** This instance as the provider knows it, by its own clock. */
const clientAt = (clientId: string, now: Date): Client => ({
  client_id: clientId,
  [clockTolerance]: toleranceSeconds,
  [clockSkew]: Math.round((now.getTime() - Date.now()) / 1000),
});

/** RFC 6749, section 2.3.1: a secret is sent as the provider takes it. */
function clientAuthOf(secret: string | undefined, server: AuthorizationServer): ClientAuth {
  if (secret === undefined) return None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? ClientSecretBasic(secret)
    : ClientSecretPost(secret);
}

/** An authorization request (OpenID Connect Core 1.0, section 3.1.2.1; RFC 7636, section 4.3). */
function requestAt(
  endpoint: string,
  { state, nonce, verifier }: SignInSecrets,
  {
    clientId,
    scopes,
    redirectUri,
  }: Readonly<Record<'clientId' | 'scopes' | 'redirectUri', string>>,
): string {
  const address = new URL(endpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes,
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/** The client of an organization's provider (docs/decisions/0471). */
export function openSignInProvider(
  { issuer, clientId, clientSecret, scopes }: OidcSettings,
  { log, now, bounds: given }: ProviderOptions,
): SignInProvider {
  const url = new URL(issuer);
  const options = {
    [customFetch]: boundedFetch({ ...bounds, ...given }),
    // Of this machine alone: the configuration takes no other.
    [allowInsecureRequests]: url.protocol === 'http:',
  };
  const complain = (error: unknown): void => {
    // Not its cause, which quotes answers with tokens.
    const fault = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    log.warn({ issuer, fault }, 'a sign-in at the provider failed');
  };
  const discovery = openDiscovery(url, options, complain);
  const keysOf = openKeys(options[customFetch]);
  const client = () => clientAt(clientId, now());
  return {
    issuer,
    host: url.host,
    async addressOf(secrets, redirectUri) {
      const { authorization_endpoint: endpoint = '' } = await discovery.get();
      return requestAt(endpoint, secrets, { clientId, scopes, redirectUri });
    },
    async claimsOf(parameters, { state, nonce, verifier }, redirectUri) {
      try {
        const server = await discovery.get();
        const answer = validateAuthResponse(server, client(), parameters, state);
        const response = await authorizationCodeGrantRequest(
          server,
          client(),
          clientAuthOf(clientSecret, server),
          answer,
          redirectUri,
          verifier,
          options,
        );
        const result = await processAuthorizationCodeResponse(server, client(), response, {
          expectedNonce: nonce,
          requireIdToken: true,
        });
        // Keys are kept by the object: of a copy they are read anew, so that those of now count.
        await validateApplicationLevelSignature({ ...server }, response, options);
        return getValidatedIdTokenClaims(result) as unknown as ProviderClaims;
      } catch (error) {
        if (error instanceof Problem) throw error;
        complain(error);
        // What a browser brings cannot make this instance ask again.
        if (!isOfBrowser(error)) discovery.forget();
        throw problemOfProvider(error);
      }
    },
    async endedBy(logoutToken) {
      const server = await discovery.get();
      try {
        const keys = await keysOf(server);
        return await readLogoutToken(logoutToken, keys, {
          issuer: server.issuer,
          audience: clientId,
          clockTolerance: toleranceSeconds,
          currentDate: now(),
        });
      } catch (error) {
        complain(error);
        throw isOfToken(error)
          ? problem.validation('The logout token is not valid.')
          : providerAway();
      }
    },
  };
}
