import { isCalendarDate } from '../kernel/date.js';
import { problem } from '../kernel/problem.js';
import type { RetryFilter } from '../kernel/usage-workflow.js';
import type { TenantQueryBuilder } from '../models/tenant-model.js';
import type { UsageEvent } from '../models/usage-event.js';
import { readInstant } from '../rating/index.js';

/** What usage events can be chosen by, in the list and in a retry; times are instants. */
export type UsageEventFilter = RetryFilter;

const dayMs = 86_400_000;

/** A date is the whole of that day in UTC; `to` is exclusive, so of a date it is the next midnight. */
function readTime(name: 'from' | 'to', text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (isCalendarDate(text)) {
    const start = Date.parse(`${text}T00:00:00Z`);
    return new Date(name === 'from' ? start : start + dayMs).toISOString();
  }
  const instant = readInstant(text);
  if (instant) return instant.timestamp;
  throw problem.validation(`'${name}' must be a date or an ISO 8601 instant`, {
    field: name,
    value: text,
  });
}

/** The filter of a request with its times as instants; 400 when they are none, or `from` is after. */
export function readUsageEventFilter(given: {
  readonly [K in keyof UsageEventFilter]: UsageEventFilter[K] | undefined;
}): UsageEventFilter {
  const from = readTime('from', given.from);
  const to = readTime('to', given.to);
  if (from !== undefined && to !== undefined && from >= to) {
    throw problem.validation("'from' must be before 'to'", { field: 'from' });
  }
  const entries = Object.entries({ ...given, from, to });
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
