import {
  createLocalJWKSet,
  errors,
  importJWK,
  jwtVerify,
  SignJWT,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
} from 'jose';
import type { Knex } from 'knex';
import { randomUUID } from 'node:crypto';
import { problem } from '../kernel/problem.js';
import type { Identity } from './identity.js';
import { publicUrls, resourcesOf } from './public-url.js';
import type { SecretBox } from './secret-box.js';
import {
  ensureSigningKey,
  listSigningKeys,
  signingAlgorithm,
  type SigningKeyRow,
} from './signing-keys.js';

/** Expected in `aud` of a token that was issued for this API rather than for an OAuth client. */
const ownAudience = 'durabill';

/** What an OAuth client was allowed to do for a user. */
export interface GrantClaims {
  readonly id: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

export interface TokenRequest {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly subject: string;
  readonly expiresInSeconds: number;
  /**
   * For an access token of an OAuth client (RFC 9068): its grant, what it is meant for, and by which
   * address the client knows this instance.
   */
  readonly oauth?: {
    readonly grant: GrantClaims;
    readonly resource: string;
    readonly issuer: string;
  };
}

/** Signs and verifies the JWTs of this instance with keys kept in its database. */
export interface TokenKeys {
  /** The public keys, as `/.well-known/jwks.json` shows them. */
  readonly jwks: JSONWebKeySet;
  /** Reads the keys again unless that was a moment ago: another process may have rotated them. */
  refresh(): Promise<void>;
  issue(request: TokenRequest): Promise<string>;
  /** Throws an unauthorized problem for a token that is malformed, expired or not ours. */
  verify(token: string): Promise<{ identity: Identity; expiresAt: number }>;
}

interface LoadedKeys {
  readonly jwks: JSONWebKeySet;
  readonly keySet: ReturnType<typeof createLocalJWKSet>;
  readonly kid: string;
  readonly privateKey: CryptoKey | Uint8Array;
  readonly loadedAt: number;
}

/** How long a process signs with a key after another one has rotated it. */
const trustMs = 60_000;
/** Between two looks for a key that is not known: tokens of made-up keys must not cost a query each. */
const lookMs = 5_000;

async function loadKeys(db: Knex, box: SecretBox, loadedAt: number): Promise<LoadedKeys> {
  const rows = await listSigningKeys(db);
  const [newest] = rows;
  if (!newest) throw new Error('There is no signing key.');
  const jwks: JSONWebKeySet = { keys: rows.map((row) => row.publicJwk) };
  return {
    jwks,
    keySet: createLocalJWKSet(jwks),
    kid: newest.kid,
    privateKey: await importJWK(openPrivateJwk(box, newest), signingAlgorithm),
    loadedAt,
  };
}

/**
 * Loads the keys, makes the first one on a new installation. `issuer` is the instance's URL, `now`
 * the clock by which tokens begin and end.
 */
export async function openTokenKeys(
  db: Knex,
  box: SecretBox,
  issuer: string,
  now: () => Date = () => new Date(),
): Promise<TokenKeys> {
  if ((await listSigningKeys(db)).length === 0) await ensureSigningKey(db, box);
  let keys = await loadKeys(db, box, now().getTime());
  let loading: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    const time = now().getTime();
    // Without the database the keys that are known go on working.
    const known = { ...keys, loadedAt: time };
    keys = await loadKeys(db, box, time).catch(() => known);
  };
  const refresh = async (afterMs: number): Promise<void> => {
    if (now().getTime() - keys.loadedAt < afterMs) return;
    // Requests that come together wait for one look.
    loading ??= load().finally(() => {
      loading = undefined;
    });
    await loading;
  };
  const audience = [ownAudience, ...publicUrls(issuer).flatMap(resourcesOf)];
  const check = (token: string) =>
    jwtVerify(token, keys.keySet, {
      ...{ algorithms: [signingAlgorithm], audience, requiredClaims: ['exp', 'sub'] },
      currentDate: now(),
    });
  return {
    get jwks() {
      return keys.jwks;
    },
    refresh: () => refresh(lookMs),
    async issue(request) {
      await refresh(trustMs);
      return sign(request, keys, issuer, now());
    },
    async verify(token) {
      await refresh(trustMs);
      try {
        const { payload } = await check(token).catch(async (error: unknown) => {
          if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
          await refresh(lookMs);
          return check(token);
        });
        return { identity: identityOf(payload), expiresAt: (payload.exp ?? 0) * 1000 };
      } catch (error) {
        if (error instanceof errors.JWTExpired) {
          throw problem.unauthorized('The token has expired; request a new one.');
        }
        if (error instanceof errors.JOSEError)
          throw problem.unauthorized('The token is not valid.');
        throw error;
      }
    },
  };
}

function sign(
  { tenantId, orgId, roles, subject, expiresInSeconds, oauth }: TokenRequest,
  { kid, privateKey }: LoadedKeys,
  issuer: string,
  now: Date,
): Promise<string> {
  const claims = {
    ...{ tenantId, roles, ...(orgId === null ? {} : { morgId: orgId }) },
    ...(oauth && {
      client_id: oauth.grant.clientId,
      scope: oauth.grant.scopes.join(' '),
      grantId: oauth.grant.id,
    }),
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: signingAlgorithm, kid, typ: oauth ? 'at+jwt' : 'JWT' })
    .setIssuer(oauth?.issuer ?? issuer)
    .setAudience(oauth?.resource ?? ownAudience)
    .setSubject(subject)
    .setIssuedAt(now)
    .setJti(randomUUID())
    .setExpirationTime(new Date(now.getTime() + expiresInSeconds * 1000))
    .sign(privateKey);
}

function openPrivateJwk(box: SecretBox, row: SigningKeyRow): JWK {
  try {
    return JSON.parse(box.open(row.privateJwkSealed)) as JWK;
  } catch {
    throw new Error(
      'The signing key in the database was sealed with another SECRET_KEY; set the one that was used.',
    );
  }
}

function identityOf(payload: JWTPayload): Identity {
  const { tenantId, morgId, roles, sub } = payload;
  if (typeof tenantId !== 'string' || tenantId === '') {
    throw problem.unauthorized("The token lacks the claim 'tenantId'.");
  }
  const grant = grantOf(payload);
  return {
    tenantId,
    orgId: typeof morgId === 'string' && morgId !== '' ? morgId : null,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    subject: sub ?? '',
    ...(grant && { grant }),
  };
}

function grantOf({ grantId, client_id, scope }: JWTPayload): GrantClaims | undefined {
  if (typeof grantId !== 'string') return undefined;
  return {
    id: grantId,
    clientId: typeof client_id === 'string' ? client_id : '',
    scopes: typeof scope === 'string' ? scope.split(' ') : [],
  };
}
