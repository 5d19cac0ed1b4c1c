import type { Scope } from '../../kernel/scope.js';
import { IdempotencyKey } from '../../models/flows/idempotency-key.js';

/** Whether this very request was sent before under its `Idempotency-Key`. */
export async function isRepeated(
  { db, tenantId }: Scope,
  key: string | null,
  requestHash: string,
): Promise<boolean> {
  if (key === null) return false;
  const found = await IdempotencyKey.query(db.read)
    .forTenant(tenantId)
    .findOne({ key, requestHash });
  return found !== undefined;
}
