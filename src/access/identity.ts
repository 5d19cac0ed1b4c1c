import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { Problem, problem } from '../kernel/problem.js';
import { findAccessKey, isAccessKey, openKeyUses } from './access-keys.js';
import { findTokenFault } from './token-revocations.js';
import type { GrantClaims, TokenKeys } from './tokens.js';

/** What a caller proved who it is with; what was given on its word ends with it. */
export interface Credential {
  readonly kind: 'accessKey' | 'token';
  /** Id of the access key, or `jti` of the token. */
  readonly id: string;
  /** The key that signed a token; null for an access key. */
  readonly kid: string | null;
  /** Null: it does not end by itself. */
  readonly endsAt: Date | null;
}

/** Who a bearer value speaks for. */
export interface Identity {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly subject: string;
  /** Undefined: nobody, of an operation that is open to all. */
  readonly credential?: Credential;
  /** Of an OAuth client that speaks for a user: what it was allowed. */
  readonly grant?: GrantClaims;
}

/** How long a checked bearer value is trusted: what was revoked works no longer than this. */
const trustMs = 5_000;
/** From here on a value in use is checked again while it is still trusted, so that nobody waits. */
const recheckMs = 2_500;

interface Trusted {
  readonly identity: Identity;
  readonly checkedAt: number;
  isRechecked: boolean;
}

/** Tells the identity of a bearer value; throws an unauthorized problem for any other. */
export type Authenticate = (bearer: string) => Promise<Identity>;

function isOver({ credential }: Identity, now: Date): boolean {
  const endsAt = credential?.endsAt ?? null;
  return endsAt !== null && endsAt <= now;
}

const suspended = (tenantId: string): Problem =>
  problem.forbidden(`The tenant '${tenantId}' is suspended.`);

const unknownTenant = (tenantId: string): Problem =>
  problem.unauthorized(`The token is for the tenant '${tenantId}', which does not exist.`);

/** How long the database is given to say whether a token was revoked. */
const askMs = 1_000;

/**
 * What the database knows against a token. Where the database is away nobody can say, and the signature
 * suffices: nothing but the usage log in Kafka can be reached without it, which must go on being filled.
 * Tokens of OAuth clients wait until the database is back.
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
 * Checked values are remembered for a moment, since checking a signature costs 0.1 ms and more, and
 * the database is asked whether a token was revoked, its signing key removed, its tenant deleted or suspended.
 * Tokens of OAuth clients are not remembered: a replayed code or refresh token ends them at once.
 */
export function openAuthenticator(
  db: Knex,
  keys: TokenKeys,
  now: () => Date = () => new Date(),
): Authenticate {
  const trusted = new LRUCache<string, Trusted>({ max: 10_000, ttl: trustMs });
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
  return async (bearer) => {
    const known = trusted.get(bearer);
    if (!known || isOver(known.identity, now())) return check(bearer);
    if (!known.isRechecked && performance.now() - known.checkedAt > recheckMs) {
      known.isRechecked = true;
      // Without the database the value is trusted to the end of its time, and then asked for again.
      void check(bearer).catch(() => undefined);
    }
    return known.identity;
  };
}
