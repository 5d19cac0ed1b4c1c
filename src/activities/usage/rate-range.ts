import { ApplicationFailure } from '@temporalio/common';
import { passOverLostUsage } from '../../commands/usage/lost-usage.js';
import {
  parseRecords,
  prepareRecords,
  rateUsage,
  UsageGapError,
  type ParsedRecord,
} from '../../commands/usage/rate-usage.js';
import type { UsageEnds } from '../../commands/usage/usage-batch.js';
import type { Scope } from '../../kernel/scope.js';
import type { UsageSlice } from '../../messages/usage-log.js';
import type { UsageRange, UsageRangeResult } from '../../messages/usage-workflow.js';
import type { Platform } from '../../process/platform.js';
import { findUsageProgress } from '../../queries/usage/usage-progress.js';
import { currentRun } from '../scope.js';

/** Events of one transaction: enough to amortize the overhead of its statements. */
const transactionEventsMax = 1000;
/** Characters of the records of a transaction up to which those of the next are held beside them. */
const shortMax = 1_024 * 1_024;
/**
 * After this time a range ends early, between two transactions, and the rest becomes another range, so that
 * other tenants soon get a slot, however expensive the events are.
 */
const rangeMsMax = 1_500;

/** Rates a range of the log, in as many transactions as its size and cost require. */
export async function rateRange(
  platform: Platform,
  scope: Scope,
  range: UsageRange,
  onCommitted: (ends: UsageEnds) => void,
): Promise<UsageRangeResult> {
  const { tracing, log, metrics } = platform;
  const { partition, firstOffset, endOffset } = range;
  const startedAt = performance.now();
  const isOver = (): boolean => performance.now() - startedAt >= rangeMsMax;
  // When the step is retried, some of its transactions may have been committed; a range of one
  // transaction finds that out by itself.
  const { next: first, counts: total } =
    endOffset - firstOffset > transactionEventsMax
      ? await findUsageProgress(scope, { partition, from: firstOffset, end: endOffset })
      : { next: firstOffset, counts: { rated: 0, duplicate: 0, rejected: 0 } };
  let offset = first;
  /** What was made ready of the range beyond this transaction: one part at most. */
  const ready: ReturnType<typeof readSlice>[] = [];
  while (offset < endOffset && (offset === first || !isOver())) {
    const { records, ahead, nextOffset, isLost } = await (ready.pop() ??
      readSlice(platform, scope, range, offset, 'now'));
    // A partition is rated one transaction after the other: what comes next is made ready while the database
    // writes. Earlier it would only delay what is written.
    const readNext = (): void => {
      if (ready.length > 0 || nextOffset >= endOffset || !areShort(records)) return;
      const next = readSlice(platform, scope, range, nextOffset, 'ahead');
      // The last one may be waited for by nobody.
      next.catch(() => undefined);
      ready.push(next);
    };
    if (!isLost) {
      tracing?.link(records.flatMap(({ record }) => record.trace ?? []));
      const { counts, next } = await rateUsage(scope, {
        partition,
        from: offset,
        end: nextOffset,
        records,
        ahead,
        areKept: platform.broker.keepsMessages,
        ...currentRun(),
        isOver,
        onFault: (error) => log.error({ err: error, ...range }, 'rating met an error of ours'),
        onRated: onCommitted,
        onWriting: readNext,
        onLatePartitions: (made) => {
          metrics.usagePartitionsLate.inc(made);
          log.warn({ made, ...range }, 'usage came with the time of a month that has no partition');
        },
      }).catch(refuseGap);
      total.rated += counts.rated;
      total.duplicate += counts.duplicate;
      total.rejected += counts.rejected;
      offset = next;
      // What was made ready stands behind the rest.
      if (next < nextOffset) break;
    } else if (!(await passOver(platform, scope, { partition, from: offset, end: nextOffset }))) {
      throw new Error(`Partition ${partition} does not stand at ${offset} any more.`);
    } else {
      offset = nextOffset;
    }
  }
  return offset < endOffset ? { ...total, nextOffset: offset } : total;
}

const areShort = (records: readonly ParsedRecord[]): boolean =>
  records.reduce((length, { record }) => length + record.message.length, 0) <= shortMax;

/** Reads what one transaction rates; ahead of it also as far prepared as that holds until then. */
async function readSlice(
  platform: Platform,
  scope: Scope,
  range: UsageRange,
  offset: number,
  when: 'now' | 'ahead',
) {
  const end = Math.min(range.endOffset, offset + transactionEventsMax);
  const { records: read, ...slice } = await readKept(platform, range, offset, end);
  const records = await parseRecords(read);
  // What cannot be prepared now is prepared where it is rated, and fails there if it must.
  const ahead =
    when === 'ahead' ? await prepareRecords(scope, records).catch(() => undefined) : undefined;
  return { ...slice, records, ahead };
}

function refuseGap(error: unknown): never {
  if (!(error instanceof UsageGapError)) throw error;
  throw ApplicationFailure.nonRetryable(error.message, 'UsageGap');
}

/**
 * Reads the records from `offset` on. If the log has lost them (its retention was shorter than an
 * outage of rating), returns the range up to the first record that it still has.
 */
async function readKept(
  { broker }: Platform,
  { tenantId, partition }: UsageRange,
  offset: number,
  end: number,
): Promise<UsageSlice & { readonly isLost: boolean }> {
  let fault: unknown;
  try {
    const slice = await broker.read(tenantId, partition, offset, end);
    if (slice.nextOffset > offset) return { ...slice, isLost: false };
    fault = new Error(`The log has no offset ${offset} to read yet.`);
  } catch (error) {
    fault = error;
  }
  const kept = await broker.firstKept(tenantId, partition, offset).catch(() => offset);
  if (kept <= offset) throw fault;
  return { records: [], nextOffset: kept, isLost: true };
}

async function passOver(
  { log, metrics }: Platform,
  scope: Scope,
  stretch: { readonly partition: number; readonly from: number; readonly end: number },
): Promise<boolean> {
  const reason = 'The log has lost these offsets: it was kept for less time than nobody rated it.';
  const isPassed = await passOverLostUsage(scope, { ...stretch, reason });
  if (isPassed) {
    metrics.usageFailedRanges.inc();
    const { partition, from, end } = stretch;
    log.error(
      { tenantId: scope.tenantId, partition, firstOffset: from, endOffset: end },
      'a range of the usage log is lost and can never be rated: producers have to send it again',
    );
  }
  return isPassed;
}
