import type { Scope } from '../../kernel/scope.js';
import { UsageConsumer } from '../../models/usage/log-offset.js';
import { UsageEvent, type UsageCounts } from '../../models/usage/usage-event.js';

/**
 * The progress in a range of the usage log: the next offset to rate, and the outcomes before it.
 */
export async function findUsageProgress(
  { tenantId, db }: Scope,
  { partition, from, end }: { partition: number; from: number; end: number },
): Promise<{ next: number; counts: UsageCounts }> {
  const [consumer] = await UsageConsumer.query(db.read).forTenant(tenantId).where({ partition });
  const consumed = Number(consumer?.nextOffset ?? 0);
  if (consumed <= from) return { next: from, counts: { rated: 0, duplicate: 0, rejected: 0 } };
  const next = Math.min(consumed, end);
  const counts = await UsageEvent.countRange(db.read, tenantId, { partition, from, to: next });
  return { next, counts };
}
