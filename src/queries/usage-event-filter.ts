import type { RetryFilter } from '../kernel/usage-workflow.js';
import type { TenantQueryBuilder } from '../models/tenant-model.js';
import type { UsageEvent } from '../models/usage-event.js';
import { readTimeRange } from './time-range.js';

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

/** Adds the conditions of a filter. An event whose time cannot be read counts by its arrival. */
export function filterUsageEvents(
  query: TenantQueryBuilder<UsageEvent>,
  { from, to, ...equal }: UsageEventFilter,
): TenantQueryBuilder<UsageEvent> {
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) void query.where(column, value);
  }
  if (from !== undefined) void query.whereRaw('coalesce(event_at, received_at) >= ?', [from]);
  if (to !== undefined) void query.whereRaw('coalesce(event_at, received_at) < ?', [to]);
  return query;
}
