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
  type JWTVerifyResult,
} from 'jose';
import type { Knex } from 'knex';
import { randomUUID } from 'node:crypto';
import { durationText } from '../kernel/time/duration.js';
import { problem } from '../kernel/problem.js';
import type { Identity } from './authenticate.js';
import { publicUrls, resourcesOf } from '../platform/config/public-url.js';
import type { SecretBox } from '../platform/secret-box.js';
import {
  ensureSigningKey,
  listSigningKeys,
  signingAlgorithm,
  type SigningKeyRow,
} from './signing-keys.js';

/**
 * `aud` and `iss` of a token that was issued for this API rather than for an OAuth client. The issuer
 * is no address: the command line may know the instance by another one than its callers.
 */
const ownName = 'durabill';

/** What the header of a token calls it: one of ours, or one of an OAuth client (RFC 9068). */
const ownType = 'JWT';
const clientType = 'at+jwt';

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
  /** Its id, by which it is revoked; one of its own where it is left out. */
  readonly id?: string;
  /** Of an embed: the account that alone may be read with it. */
  readonly accountId?: string;
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
  /** Throws a validation problem for one that is to live longer than tokens may. */
  issue(request: TokenRequest): Promise<string>;
  /**
   * The identity of a token from its claims; revocation is checked in the database. Throws an
   * unauthorized problem for one that is malformed, expired or not ours.
   */
  verify(token: string): Promise<Identity>;
}

interface LoadedKeys {
  readonly jwks: JSONWebKeySet;
  readonly keySet: ReturnType<typeof createLocalJWKSet>;
  readonly kid: string;
  readonly privateKey: CryptoKey | Uint8Array;
  readonly loadedAt: number;
}

/** How long tokens may live where nothing else is configured. */
export const tokenLifeDefaultSeconds = 90 * 86_400;

interface TokenSettings {
  /** The clock by which tokens begin and end. */
  readonly now?: () => Date;
  readonly lifeMaxSeconds?: number | undefined;
}

/** How long a process may sign with a key after another process has rotated it. */
const trustMs = 5_000;
/**
 * Minimum time between two reloads for unknown keys: tokens with made-up key ids must not cost a
 * query each.
 */
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

/** Loads the keys, makes the first one on a new installation. `issuer` is the instance's URL. */
export async function openTokenKeys(
  db: Knex,
  box: SecretBox,
  issuer: string,
  { now = () => new Date(), lifeMaxSeconds = tokenLifeDefaultSeconds }: TokenSettings = {},
): Promise<TokenKeys> {
  if ((await listSigningKeys(db)).length === 0) await ensureSigningKey(db, box);
  let keys = await loadKeys(db, box, now().getTime());
  let loading: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    const time = now().getTime();
    // Without the database the cached keys are used.
    const known = { ...keys, loadedAt: time };
    keys = await loadKeys(db, box, time).catch(() => known);
  };
  const refresh = async (afterMs: number): Promise<void> => {
    if (now().getTime() - keys.loadedAt < afterMs) return;
    // Concurrent requests share one reload.
    loading ??= load().finally(() => {
      loading = undefined;
    });
    await loading;
  };
  const issuers = publicUrls(issuer);
  const audience = [ownName, ...issuers.flatMap(resourcesOf)];
  const check = (token: string) =>
    jwtVerify(token, keys.keySet, {
      algorithms: [signingAlgorithm],
      audience,
      issuer: [ownName, ...issuers],
      requiredClaims: ['exp', 'iat', 'jti', 'sub'],
      currentDate: now(),
    });
  return {
    get jwks() {
      return keys.jwks;
    },
    refresh: () => refresh(lookMs),
    async issue(request) {
      if (request.expiresInSeconds > lifeMaxSeconds) {
        throw problem.validation(
          `A token may live for at most ${durationText(lifeMaxSeconds)} (TOKEN_LIFE_MAX).`,
        );
      }
      await refresh(trustMs);
      return sign(request, keys, now());
    },
    async verify(token) {
      await refresh(trustMs);
      try {
        const verified = await check(token).catch(async (error: unknown) => {
          if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
          await refresh(lookMs);
          return check(token);
        });
        checkKind(verified);
        const identity = identityOf(verified, lifeMaxSeconds);
        if (identity.credential.endsAt <= now()) throw expired();
        return identity;
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw expired();
        if (error instanceof errors.JOSEError)
          throw problem.unauthorized('The token is not valid.');
        throw error;
      }
    },
  };
}

function sign(
  { tenantId, orgId, roles, subject, expiresInSeconds, id, accountId, oauth }: TokenRequest,
  { kid, privateKey }: LoadedKeys,
  now: Date,
): Promise<string> {
  const claims = {
    tenantId,
    roles,
    ...(orgId === null ? {} : { morgId: orgId }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(oauth && {
      client_id: oauth.grant.clientId,
      scope: oauth.grant.scopes.join(' '),
      grantId: oauth.grant.id,
    }),
  };
  // One of an embed ends to the millisecond: in whole seconds it may be over before it is used. Of others,
  // whose grants end with them, claims have whole seconds.
  const end = now.getTime() / 1000 + expiresInSeconds;
  return new SignJWT(claims)
    .setProtectedHeader({ alg: signingAlgorithm, kid, typ: oauth ? clientType : ownType })
    .setIssuer(oauth?.issuer ?? ownName)
    .setAudience(oauth?.resource ?? ownName)
    .setSubject(subject)
    .setIssuedAt(now)
    .setJti(id ?? randomUUID())
    .setExpirationTime(accountId === undefined ? Math.floor(end) : end)
    .sign(privateKey);
}

const expired = () => problem.unauthorized('The token has expired; request a new one.');

function openPrivateJwk(box: SecretBox, row: SigningKeyRow): JWK {
  try {
    return JSON.parse(box.open(row.privateJwkSealed)) as JWK;
  } catch {
    throw new Error(
      'The signing key in the database was sealed with another SECRET_KEY; set the one that was used.',
    );
  }
}

/**
 * RFC 9068, section 4: what is issued to clients says so, and nothing else does. A token of either
 * kind cannot stand in for the other.
 */
function checkKind({ payload, protectedHeader: { typ } }: JWTVerifyResult): void {
  const { grantId, iss, aud } = payload;
  const isOfClient = typ === clientType && typeof grantId === 'string' && iss !== ownName;
  // Tokens issued by earlier releases have the instance's address as their issuer.
  const isOwn = typ === ownType && grantId === undefined && aud === ownName;
  if (!isOfClient && !isOwn) throw problem.unauthorized('The token is not valid.');
}

/** The maximum life applies to tokens of earlier releases, too. */
function identityOf({ payload, protectedHeader }: JWTVerifyResult, lifeMaxSeconds: number) {
  const { tenantId, morgId, accountId, roles, sub, jti = '', exp = 0, iat = 0 } = payload;
  if (typeof tenantId !== 'string' || tenantId === '') {
    throw problem.unauthorized("The token lacks the claim 'tenantId'.");
  }
  const grant = grantOf(payload);
  return {
    tenantId,
    orgId: typeof morgId === 'string' && morgId !== '' ? morgId : null,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    subject: sub ?? '',
    // A claim that is no text is of nobody's account, and still limits the token.
    ...(accountId === undefined
      ? {}
      : { accountId: typeof accountId === 'string' ? accountId : '' }),
    credential: {
      kind: 'token' as const,
      id: jti,
      kid: protectedHeader.kid ?? null,
      endsAt: new Date(Math.min(exp, iat + lifeMaxSeconds) * 1000),
    },
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
