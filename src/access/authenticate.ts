import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { Problem, problem } from '../kernel/problem.js';
import { findAccessKey, isAccessKey, openKeyUses } from './access-keys.js';
import { findTokenFault } from './token-revocations.js';
import type { GrantClaims, TokenKeys } from './tokens.js';

/** The credential that authenticated a caller; grants made with it end with it. */
export interface Credential {
  readonly kind: 'accessKey' | 'token';
  /** Id of the access key, or `jti` of the token. */
  readonly id: string;
  /** The id of the key that signed a token; null for an access key. */
  readonly kid: string | null;
  /** Null: it does not end by itself. */
  readonly endsAt: Date | null;
}

/** The subject and tenant of a bearer value. */
export interface Identity {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly subject: string;
  /** Undefined: nobody, of an operation that is open to all. */
  readonly credential?: Credential;
  /** Of an embed: the account that it may read, and nothing else (docs/decisions/0384). */
  readonly accountId?: string;
  /** Of an OAuth client that speaks for a user: what it was allowed. */
  readonly grant?: GrantClaims;
}

/** How long a verified bearer value is cached, and so how long a revoked one may still work. */
const trustMs = 5_000;
/**
 * The age from which a cached value is verified again in the background, so that no request waits.
 */
const recheckMs = 2_500;

interface Trusted {
  readonly identity: Identity;
  readonly checkedAt: number;
  isRechecked: boolean;
}

/**
 * Returns the identity of a bearer value, a promise unless it was verified lately; throws an unauthorized
 * problem if it is not valid.
 */
export type Authenticate = (bearer: string) => Identity | Promise<Identity>;

function isOver({ credential }: Identity, now: Date): boolean {
  const endsAt = credential?.endsAt ?? null;
  return endsAt !== null && endsAt <= now;
}

const suspended = (tenantId: string): Problem =>
  problem.forbidden(`The tenant '${tenantId}' is suspended.`);

const unknownTenant = (tenantId: string): Problem =>
  problem.unauthorized(`The token is for the tenant '${tenantId}', which does not exist.`);

/** Timeout of the database query for revocation. */
const askMs = 1_000;

/**
 * The reason in the database to refuse a token. If the database is unavailable, the signature
 * suffices: without it only the usage log in Kafka can be reached, and ingestion must go on. Tokens
 * of OAuth clients are not accepted until the database is back.
 */
async function faultUnlessAway<Fault>(
  { grant }: Identity,
  ask: () => Promise<Fault>,
): Promise<Fault | undefined> {
  if (grant) return ask();
  const limit = new AbortController();
  const patience = wait(askMs, undefined, { signal: limit.signal, ref: false });
  try {
    return await Promise.race([ask(), patience]);
  } catch {
    return undefined;
  } finally {
    limit.abort();
    patience.catch(() => undefined);
  }
}

/**
 * Verified values are cached briefly: verifying a signature takes 0.1 ms or more, and the database
 * is queried for revocations, removed signing keys, and deleted or suspended tenants. Tokens of
 * OAuth clients are not cached: a replayed code or refresh token ends them at once.
 */
export function openAuthenticator(
  db: Knex,
  keys: TokenKeys,
  now: () => Date = () => new Date(),
): Authenticate {
  // Within the resolution the clock is not read again.
  const trusted = new LRUCache<string, Trusted>({ max: 10_000, ttl: trustMs, ttlResolution: 50 });
  const uses = openKeyUses(db);
  const checkKey = async (bearer: string): Promise<Identity> => {
    const found = await findAccessKey(db, bearer);
    if (!found || isOver(found.identity, now())) {
      throw problem.unauthorized('The access key is unknown, revoked or expired.');
    }
    if (found.isSuspended) throw suspended(found.identity.tenantId);
    uses.note(found.identity, now());
    return found.identity;
  };
  const checkToken = async (bearer: string): Promise<Identity> => {
    const identity = await keys.verify(bearer);
    const fault = await faultUnlessAway(identity, () => findTokenFault(db, identity, now()));
    if (fault === 'unknown') throw unknownTenant(identity.tenantId);
    if (fault === 'suspended') throw suspended(identity.tenantId);
    if (fault === 'revoked') throw problem.unauthorized('The token has been revoked.');
    return identity;
  };
  const check = async (bearer: string): Promise<Identity> => {
    try {
      const identity = await (isAccessKey(bearer) ? checkKey(bearer) : checkToken(bearer));
      if (!identity.grant) {
        trusted.set(bearer, { identity, checkedAt: performance.now(), isRechecked: false });
      }
      return identity;
    } catch (error) {
      if (error instanceof Problem) trusted.delete(bearer);
      throw error;
    }
  };
  return (bearer) => {
    const known = trusted.get(bearer);
    if (!known || isOver(known.identity, now())) return check(bearer);
    if (!known.isRechecked && performance.now() - known.checkedAt > recheckMs) {
      known.isRechecked = true;
      // While the database is unavailable, the cached value is used until it expires.
      void check(bearer).catch(() => undefined);
    }
    return known.identity;
  };
}
