import { takesIdempotencyKey } from './idempotency-key.js';
import { accessOf } from './operation-access.js';
import type { ErrorStatus, Operation } from './operation.js';

/** Every error status that an operation may answer with: declared, and common to its kind. */
export function errorStatuses(declared: Operation): ErrorStatus[] {
  const { body, query, errors } = declared;
  const statuses = new Set<ErrorStatus>(errors);
  // 403 for valid tokens without a role, too: the tenant may be suspended.
  if (accessOf(declared) !== 'public') statuses.add(401).add(403);
  if (body) statuses.add(413);
  // The key was used for another request.
  if (takesIdempotencyKey(declared)) statuses.add(409);
  // The limit of a tenant's share, or of the address of an unauthenticated request, is reached.
  statuses.add(429);
  // Not for path parameters: a malformed one is 404. Every family but the gateway's refuses unknown
  // query parameters.
  if (body || query || declared.family !== 'gateway') statuses.add(400);
  statuses.add(503);
  return [...statuses].sort((a, b) => a - b);
}
