import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { problem } from '../kernel/problem.js';
import { findAccessKey, isAccessKey } from './access-keys.js';
import { isGrantLive } from './oauth/grants.js';
import type { GrantClaims, TokenKeys } from './tokens.js';

/** Who a bearer value speaks for (document 1, section 5). */
export interface Identity {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly subject: string;
  /** Of an OAuth client that speaks for a user: what it was allowed. */
  readonly grant?: GrantClaims;
}

/** How long a verified bearer value is trusted: a revoked access key works no longer than this. */
const trustMs = 5_000;

/** Tells the identity of a bearer value; throws an unauthorized problem for any other. */
export type Authenticate = (bearer: string) => Promise<Identity>;

/**
 * Verified values are remembered for a moment, since checking a signature costs 0.1 ms and more.
 * Tokens of OAuth clients are not: a replayed code or refresh token ends them at once.
 */
export function openAuthenticator(
  db: Knex,
  keys: TokenKeys,
  now: () => Date = () => new Date(),
): Authenticate {
  const verified = new LRUCache<string, Identity>({ max: 10_000 });
  return async (bearer) => {
    const known = verified.get(bearer);
    if (known) return known;
    const { identity, expiresAt } = isAccessKey(bearer)
      ? { identity: await findAccessKey(db, bearer), expiresAt: Infinity }
      : await keys.verify(bearer);
    if (!identity) throw problem.unauthorized('The access key is unknown or revoked.');
    if (identity.grant) {
      if (await isGrantLive(db, identity.grant.id)) return identity;
      throw problem.unauthorized('The token has been revoked.');
    }
    const ttl = Math.min(trustMs, expiresAt - now().getTime());
    if (ttl > 0) verified.set(bearer, identity, { ttl });
    return identity;
  };
}
