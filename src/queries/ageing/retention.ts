import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { findLegalHold } from '../../models/access/legal-hold.js';
import { readRetention } from '../../models/access/retention-rule.js';
import type * as schema from '../../schemas/ageing/retention.js';

/** How long data of the tenant are kept. */
export async function getRetention({
  tenantId,
  db,
}: Scope): Promise<Static<typeof schema.Retention>> {
  const [rules, hold] = await Promise.all([
    readRetention(db.read, tenantId),
    findLegalHold(db.read, tenantId),
  ]);
  return {
    rules: rules.map(({ kind, days, setBy, removed, removedBefore }) => ({
      kind,
      days,
      setBy,
      removed: Number(removed),
      removedBefore: removedBefore?.toISOString() ?? null,
    })),
    legalHoldSince: hold?.placedAt.toISOString() ?? null,
  };
}
