import type { Scope } from '../../../kernel/scope.js';
import {
  listDroppedMonths,
  monthsOfTimes,
  refuseArchived,
  type DroppedMonth,
} from '../../../models/usage/finding/dropped-month.js';
import type { UsageStatus } from '../../../models/usage/usage-event.js';
import { daysOfTimes, type UsageEventFilter } from '../finding/usage-event-filter.js';

/**
 * The dropped months that events of a filter may be in; those of an external id are found without them,
 * rejected ones and repeats never leave the database. 409: their number would be counted from rows that
 * are in the archive.
 */
export async function findArchivedOf(
  { db, tenantId }: Scope,
  status: UsageStatus | undefined,
  { from, to, ...others }: UsageEventFilter,
): Promise<readonly DroppedMonth[]> {
  const staysHere = status === 'rejected' || status === 'duplicate' || others.code !== undefined;
  if (staysHere || others.externalTransactionId !== undefined) return [];
  const months = await listDroppedMonths(db.read, tenantId);
  if (months.length === 0) return months;
  const touched = monthsOfTimes(months, { from: from ?? null, to: to ?? null });
  const isByTimes = Object.values(others).every((value) => value === undefined);
  if (!isByTimes) refuseArchived(touched);
  if (from !== undefined || to !== undefined) {
    const rests = daysOfTimes({ from, to })?.rests ?? [{ from, to }];
    for (const rest of rests) {
      refuseArchived(monthsOfTimes(months, { from: rest.from ?? null, to: rest.to ?? null }));
    }
  }
  return touched;
}

/** 409: a page in descending order of ids, which ends with a row, reaches into these months. */
export function refuseArchivedPage(
  months: readonly DroppedMonth[],
  rows: readonly { readonly id: string }[],
  { isFull }: { readonly isFull: boolean },
): void {
  const last = rows.at(-1)?.id;
  if (!isFull || last === undefined) refuseArchived(months);
  else refuseArchived(months.filter(({ endId }) => endId > last));
}
