import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import { IdempotencyKey, type KeyedRequest } from '../models/idempotency-key.js';

/**
 * Takes an `Idempotency-Key` for a request (DESIGN.md, section 3), or finds the request that took it
 * before. 409: that was another request.
 */
export async function claimIdempotencyKey(
  scope: Scope,
  request: KeyedRequest,
): Promise<KeyedRequest> {
  const holder = await IdempotencyKey.claim(scope.db.read, scope.tenantId, request);
  if (holder.requestHash === request.requestHash) return holder;
  throw problem.conflict('This Idempotency-Key was used for another request.', {
    field: 'Idempotency-Key',
  });
}
