import type { Scope } from '../../kernel/scope.js';
import { insertLostUsage } from '../../models/usage/lost-usage-range.js';
import { noChange, UsageConsumer } from '../../models/usage/usage-consumer.js';

/** A stretch of a partition that can never be rated, and why. */
export interface LostStretch {
  readonly partition: number;
  readonly from: number;
  /** The offset after the stretch. */
  readonly end: number;
  readonly reason: string;
}

/**
 * Passes over a stretch of the usage log where its consumer stands, and records it: what comes after it
 * is rated. Its offsets count as skipped, so that the sums of what was accepted and what became of it
 * stay equal (docs/decisions/0187-ranges-that-can-never-be-rated.md). False: the consumer stands
 * elsewhere, since somebody else was first.
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
