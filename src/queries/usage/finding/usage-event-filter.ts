import type { RetryFilter } from '../../../messages/usage-workflow.js';
import type { TenantQueryBuilder } from '../../../models/db/tenant-model.js';
import { originalIds } from '../../../models/usage/finding/usage-identity.js';
import type { UsageEvent } from '../../../models/usage/usage-event.js';
import { readTimeRange } from '../../lists/time-range.js';

/** What usage events can be chosen by, in the list and in a retry; times are instants. */
export type UsageEventFilter = RetryFilter;

/** The filter of a request with its times as instants; 400 when they are none, or `from` is after. */
export function readUsageEventFilter(given: {
  readonly [K in keyof UsageEventFilter]: UsageEventFilter[K] | undefined;
}): UsageEventFilter {
  const { from, to } = given;
  const range = readTimeRange({ from, to });
  const entries = Object.entries({ ...given, ...range });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** As the index `usage_event_time` has it: coalesce() is not leakproof (docs/decisions/0078). */
const timeSql = 'case when event_at is null then received_at else event_at end';

/**
 * Adds the conditions of a filter. For an event whose time cannot be parsed, the time of receipt
 * counts.
 */
export function filterUsageEvents(
  query: TenantQueryBuilder<UsageEvent>,
  tenantId: string,
  { from, to, externalTransactionId, ...equal }: UsageEventFilter,
): TenantQueryBuilder<UsageEvent> {
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) void query.where(column, value);
  }
  // Only rejected events have a code. The redundant condition makes the planner use the partial
  // index of events that are not rated.
  if (equal.code !== undefined) void query.where('status', 'rejected');
  if (externalTransactionId !== undefined) {
    // Duplicates have an index of their own.
    const originals = originalIds(tenantId, [externalTransactionId]);
    void query.whereRaw(
      `(usage_event.id = any(array(${originals.sql}))
        or (external_transaction_id = ? and original_id is not null))`,
      [...originals.bindings, externalTransactionId],
    );
  }
  if (from !== undefined) void query.whereRaw(`${timeSql} >= ?`, [from]);
  if (to !== undefined) void query.whereRaw(`${timeSql} < ?`, [to]);
  return query;
}

const dayMs = 86_400_000;

export interface Times {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Whole days in UTC, and the times before and after them that are parts of days. */
interface DaysOfTimes {
  readonly days: { readonly from?: string | undefined; readonly last?: string | undefined };
  readonly rests: readonly Pick<UsageEventFilter, 'from' | 'to'>[];
}

/**
 * The midnight at this instant, else the next one; compared as text, since `Date` drops
 * microseconds.
 */
function dayAfter(instant: string): number {
  const day = Math.floor(Date.parse(instant) / dayMs) * dayMs;
  return isMidnight(instant) ? day : day + dayMs;
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The times of a filter in days; undefined when they hold no whole day. */
export function daysOfTimes({ from, to }: Times): DaysOfTimes | undefined {
  const start = from === undefined ? undefined : dayAfter(from);
  const end = to === undefined ? undefined : Math.floor(Date.parse(to) / dayMs) * dayMs;
  if (start !== undefined && end !== undefined && start >= end) return undefined;
  const midnight = (ms: number) => new Date(ms).toISOString();
  return {
    days: {
      from: start === undefined ? undefined : dateOf(start),
      last: end === undefined ? undefined : dateOf(end - dayMs),
    },
    rests: [
      ...(from === undefined || start === undefined || isMidnight(from)
        ? []
        : [{ from, to: midnight(start) }]),
      ...(to === undefined || end === undefined || isMidnight(to)
        ? []
        : [{ from: midnight(end), to }]),
    ],
  };
}

/** The days that these times touch: `to`, which is exclusive, does not touch the day that it begins. */
export const daysTouched = ({ from, to }: Times): DaysOfTimes['days'] => ({
  from: from?.slice(0, 10),
  last: to === undefined || !isMidnight(to) ? to?.slice(0, 10) : dateOf(Date.parse(to) - dayMs),
});

const isMidnight = (instant: string): boolean => /T00:00:00(\.0+)?Z$/.test(instant);
