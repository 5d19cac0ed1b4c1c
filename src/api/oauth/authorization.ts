import { randomInt } from 'node:crypto';
import { isUuid } from '../../kernel/id.js';
import { isOauthScope, oauthScopeNames, scopeNames } from '../../kernel/oauth-scope.js';
import { findOauthClient, type OauthClient } from '../../access/oauth/clients.js';
import { flowLifetimeSeconds } from '../../access/oauth/pending-authorization.js';
import { newSecret } from '../../access/oauth/oauth-secret.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor, publicUrls, resourcesOf } from '../../platform/config/public-url.js';
import type { OperationInput, Redirect } from '../../schemas/http/operation.js';
import type { Operations } from '../../schemas/index.js';
import type { Caller } from '../mount-operations.js';
import { oauthFault } from './oauth-fault.js';
import { isRegistered } from './redirect-uri.js';

type AuthorizationRequest = OperationInput<Operations['oauth']['authorize']>['query'];

/** The cookie that binds a flow to the browser that began it (spec/gateway.md R18). */
export const browserCookie = '__gateway_flow_secret';

/**
 * The cookies of what is asked, sealed: as many flows of one browser as may wait for their user at
 * the same time, which with all else stays below what headers may hold.
 */
export const flowCookies: readonly string[] = [1, 2, 3, 4].map((n) => `__gateway_flow_${n}`);

const secretForm = /^[A-Za-z0-9_-]{43}$/;

/**
 * The client and its redirect URI (RFC 6749, section 4.1.2.1: without both, nobody is sent
 * anywhere). 400: `invalid_client`, `invalid_request`.
 */
export async function findTarget(
  { database }: Platform,
  { client_id: clientId, redirect_uri: redirectUri }: Readonly<Record<string, unknown>>,
): Promise<OauthClient> {
  const client =
    typeof clientId === 'string' && isUuid(clientId)
      ? await findOauthClient(database.platform, clientId)
      : undefined;
  if (!client) throw oauthFault('invalid_client', "'client_id' is not known", 'client_id');
  if (typeof redirectUri !== 'string' || !isRegistered(redirectUri, client.redirectUris)) {
    const message = "'redirect_uri' is none that the client registered";
    throw oauthFault('invalid_request', message, 'redirect_uri');
  }
  return client;
}

/** RFC 6749, section 3.1.1. */
function checkResponseType({ response_type: type }: AuthorizationRequest): void {
  if (type !== 'code') {
    throw oauthFault('unsupported_response_type', "'response_type' must be code", 'response_type');
  }
}

/** RFC 7636, section 4.2: base64url of 32 bytes. */
function checkCodeChallenge({ code_challenge: challenge }: AuthorizationRequest): void {
  if (!secretForm.test(challenge)) {
    const message = "'code_challenge' must be 43 characters of base64url";
    throw oauthFault('invalid_request', message, 'code_challenge');
  }
}

/** RFC 7636, section 4.3: plain is what an absent method means, and it is not supported. */
function checkCodeChallengeMethod({ code_challenge_method: method }: AuthorizationRequest): void {
  if (method !== 'S256') {
    const message = "'code_challenge_method' must be S256";
    throw oauthFault('invalid_request', message, 'code_challenge_method');
  }
}

/**
 * RFC 6749, section 3.3: scopes that are known. Of those, the client gets what it registered; without
 * any of them there is nothing to ask the user. All that it registered by default.
 */
function readScopes({ scope }: AuthorizationRequest, client: OauthClient): readonly string[] {
  const allowed: readonly string[] = client.scopes ?? oauthScopeNames;
  const asked = scopeNames(scope ?? '');
  if (asked.length === 0) return allowed;
  const granted = asked.filter((name) => allowed.includes(name));
  if (granted.length > 0 && asked.every(isOauthScope)) return granted;
  throw oauthFault('invalid_scope', `'scope' may hold ${allowed.join(' and ')}`, 'scope');
}

/**
 * RFC 8707, section 2: this API or its MCP server, with or without a slash at the end. `issuer` is
 * how the client knows this instance, and what it means when it names none.
 */
export function readResource(resource: string | undefined, issuer: string): string {
  if (resource === undefined) return issuer;
  const known = publicUrls(issuer)
    .flatMap(resourcesOf)
    .find((one) => resource === one || resource === `${one}/`);
  if (known !== undefined) return known;
  const allowed = resourcesOf(issuer).join(' or ');
  throw oauthFault('invalid_target', `'resource' must be ${allowed}`, 'resource');
}

/**
 * Checks what a client asks for and gives it, sealed, to this browser to keep. A browser that has a
 * secret keeps it: two clients that ask at the same time share it.
 */
export async function startFlow(
  platform: Platform,
  query: AuthorizationRequest,
  { host, cookie }: Caller,
): Promise<Redirect> {
  const { config, now, oauthFlows } = platform;
  const client = await findTarget(platform, query);
  checkResponseType(query);
  checkCodeChallenge(query);
  checkCodeChallengeMethod(query);
  const scopes = readScopes(query, client);
  const resource = readResource(query.resource, publicUrlFor(config.publicUrl, host));
  const secret = cookie(browserCookie);
  const value = secret !== undefined && secretForm.test(secret) ? secret : newSecret();
  const flow = oauthFlows.seal(
    {
      clientId: client.id,
      scopes,
      resource,
      state: query.state ?? null,
      redirectUri: query.redirect_uri,
      codeChallenge: query.code_challenge,
      expiresAt: new Date(now().getTime() + flowLifetimeSeconds * 1000),
    },
    value,
  );
  if (!flow) throw oauthFault('invalid_request', "'state' is too long", 'state');
  const free = flowCookies.find((name) => cookie(name) === undefined);
  const name = free ?? flowCookies[randomInt(flowCookies.length)] ?? '';
  const maxAgeSeconds = flowLifetimeSeconds;
  return {
    location: `/oauth/consent?flow_id=${flow.id}`,
    cookies: [
      { name: browserCookie, value, maxAgeSeconds },
      { name, value: flow.sealed, maxAgeSeconds },
    ],
  };
}
