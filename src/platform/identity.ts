import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { problem } from '../kernel/problem.js';
import { findAccessKey, isAccessKey } from './access-keys.js';
import type { TokenKeys } from './tokens.js';

/** Who a bearer value speaks for (document 1, section 5). */
export interface Identity {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly subject: string;
}

/** How long a verified bearer value is trusted: a revoked access key works no longer than this. */
const trustMs = 5_000;

/** Tells the identity of a bearer value; throws an unauthorized problem for any other. */
export type Authenticate = (bearer: string) => Promise<Identity>;

/** Verified values are remembered for a moment, since checking a signature costs 0.1 ms and more. */
export function openAuthenticator(db: Knex, keys: TokenKeys): Authenticate {
  const verified = new LRUCache<string, Identity>({ max: 10_000 });
  return async (bearer) => {
    const known = verified.get(bearer);
    if (known) return known;
    const { identity, expiresAt } = isAccessKey(bearer)
      ? { identity: await findAccessKey(db, bearer), expiresAt: Infinity }
      : await keys.verify(bearer);
    if (!identity) throw problem.unauthorized('The access key is unknown or revoked.');
    const ttl = Math.min(trustMs, expiresAt - Date.now());
    if (ttl > 0) verified.set(bearer, identity, { ttl });
    return identity;
  };
}
