import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { copiedPartition, type UsageLogReader } from '../../messages/usage-log.js';
import { UsageConsumer } from '../../models/usage/log-offset.js';
import type * as schema from '../../schemas/usage/usage-event.js';

type UsageSummaryDto = Static<typeof schema.UsageSummary>;

/** The log of usage, and who is told of why it does not answer; null: it is known not to. */
export type AskedLog = {
  readonly log: UsageLogReader;
  readonly onFault: (error: unknown) => void;
} | null;

/**
 * How many events are rejected, how many wait to be rated, and when the oldest of these was accepted;
 * null where the log does not answer.
 */
export async function findPendingUsage(
  { tenantId, db }: Scope,
  asked: AskedLog,
): Promise<{ rejected: number; pending: number | null; since: Date | null }> {
  // Before the ends of the log, as of all outcomes.
  const consumers = await UsageConsumer.query(db.read).forTenant(tenantId);
  const rejected = consumers.reduce((sum, each) => sum + Number(each.rejected), 0);
  const unknown = { pending: null, since: null };
  if (asked === null) return { rejected, ...unknown };
  const { log, onFault } = asked;
  try {
    const waiting = (await log.ends(tenantId))
      .map(({ partition, offset: end }) => {
        const consumer = consumers.find((each) => each.partition === partition);
        const offset = Number(consumer?.nextOffset ?? 0);
        return { partition, offset, count: end - offset };
      })
      .filter(({ count }) => count > 0);
    const pending = waiting.reduce((sum, { count }) => sum + count, 0);
    return { rejected, pending, since: await log.oldestReceipt(tenantId, waiting) };
  } catch (error) {
    onFault(error);
    return { rejected, ...unknown };
  }
}

/** The number of events by outcome, consistent at any moment (spec/beyond.md R12). */
export async function summarizeUsage(
  { tenantId, db }: Scope,
  log: UsageLogReader,
): Promise<UsageSummaryDto> {
  // Reads the consumer offsets first, then the ends of the log: events consumed by then are in the
  // log.
  const consumers = await UsageConsumer.query(db.read).forTenant(tenantId);
  const ends = await log.ends(tenantId);
  const copied = consumers.find(({ partition }) => partition === copiedPartition);
  if (copied) ends.push({ partition: copiedPartition, offset: Number(copied.nextOffset) });
  const partitions = ends
    .sort((a, b) => a.partition - b.partition)
    .map(({ partition, offset: end }) => {
      const consumer = consumers.find((each) => each.partition === partition);
      const rated = Number(consumer?.rated ?? 0);
      const duplicate = Number(consumer?.duplicate ?? 0);
      const rejected = Number(consumer?.rejected ?? 0);
      const canceled = Number(consumer?.canceled ?? 0);
      const pending = end - Number(consumer?.nextOffset ?? 0);
      const accepted = end - Number(consumer?.skipped ?? 0);
      return { partition, accepted, rated, duplicate, rejected, canceled, pending };
    });
  const total = { accepted: 0, rated: 0, duplicate: 0, rejected: 0, canceled: 0, pending: 0 };
  for (const each of partitions) {
    total.accepted += each.accepted;
    total.rated += each.rated;
    total.duplicate += each.duplicate;
    total.rejected += each.rejected;
    total.canceled += each.canceled;
    total.pending += each.pending;
  }
  return { ...total, partitions };
}
