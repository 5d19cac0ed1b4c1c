import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet } from 'jose';
import type { AuthorizationServer } from 'oauth4webapi';
import type { boundedFetch } from './bounded-fetch.js';
import type { EndedSignIn } from '../../messages/access/sign-in-provider.js';

const event = 'http://schemas.openid.net/event/backchannel-logout';

/** Signatures by keys that a provider publishes; no secret of the client, and never none. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
];

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly clockTolerance: number;
  readonly currentDate: Date;
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** It is signed, and says something else. */
class NoLogoutToken extends Error {}

/** Whether the token is at fault, and not how its keys were read. */
export const isOfToken = (error: unknown): boolean =>
  error instanceof NoLogoutToken || error instanceof errors.JOSEError;

/** How long keys count that were read. */
const keysMs = 1_000;

async function readKeys(
  { jwks_uri: address = '' }: AuthorizationServer,
  ask: ReturnType<typeof boundedFetch>,
): Promise<JSONWebKeySet> {
  const response = await ask(address, { method: 'GET', headers: { accept: 'application/json' } });
  if (response.status !== 200) throw new Error(`Its keys are answered with ${response.status}.`);
  return (await response.json()) as JSONWebKeySet;
}

/**
 * The keys of a provider as they are now, read once for all who ask within a second: anybody may send a
 * token, and keys may be long. Throws where it does not answer with any.
 */
export function openKeys(ask: ReturnType<typeof boundedFetch>) {
  let read: { readonly keys: Promise<JSONWebKeySet>; readonly at: number } | undefined;
  return (server: AuthorizationServer): Promise<JSONWebKeySet> => {
    const now = performance.now();
    if (read === undefined || now - read.at > keysMs) {
      const asked = { keys: readKeys(server, ask), at: now };
      read = asked;
      asked.keys.catch(() => {
        if (read === asked) read = undefined;
      });
    }
    return read.keys;
  };
}

/**
 * Whose sign-in a provider says is over (OpenID Connect Back-Channel Logout 1.0, section 2.6). Throws
 * where the token is none of the provider for this client, or no logout token: an ID token has a nonce
 * and no such event.
 */
export async function readLogoutToken(
  token: string,
  keys: JSONWebKeySet,
  expected: Expected,
): Promise<EndedSignIn> {
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
    ...expected,
    algorithms,
    requiredClaims: ['iat', 'jti', 'events'],
    // Sent while it is made: one that somebody kept ends nothing.
    maxTokenAge: 600,
  });
  const { events, nonce, sid } = payload as Readonly<Record<string, unknown>>;
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, event);
  if (!isLogout || nonce !== undefined) throw new NoLogoutToken('It is no logout token.');
  const ended = { sub: textOf(payload.sub), sid: textOf(sid) };
  if (ended.sub === null && ended.sid === null) throw new NoLogoutToken('It names nobody.');
  return ended;
}
