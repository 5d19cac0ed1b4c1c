import type { Scope } from '../../kernel/scope.js';
import { insertLostUsage } from '../../models/usage/lost-usage-range.js';
import { noChange, UsageConsumer } from '../../models/usage/log-offset.js';

/** A stretch of a partition that can never be rated, and why. */
export interface LostStretch {
  readonly partition: number;
  readonly from: number;
  /** The offset after the stretch. */
  readonly end: number;
  readonly reason: string;
}

/**
 * Advances the consumer's offset over a range of the usage log that can never be rated, and records
 * the range; rating continues behind it. Its offsets count as skipped, so that the sums of accepted
 * and of consumed events stay equal (docs/decisions/0187-ranges-that-can-never-be-rated.md). False:
 * the consumer is at another offset, since another process was first.
 */
export async function passOverLostUsage(scope: Scope, stretch: LostStretch): Promise<boolean> {
  const { tenantId } = scope;
  const { partition, from, end, reason } = stretch;
  return scope.db.transaction(async (trx) => {
    const next = await UsageConsumer.lock(trx, tenantId, partition);
    if (next !== from || end <= from) return false;
    await insertLostUsage(trx, {
      tenantId,
      partition,
      reason,
      firstOffset: from,
      endOffset: end,
      foundAt: scope.now(),
    });
    const skipped = end - from;
    await UsageConsumer.advance(trx, tenantId, partition, {
      ...noChange(),
      nextOffset: end,
      skipped,
    });
    return true;
  });
}
