import { isCalendarDate } from '../kernel/date.js';
import { problem } from '../kernel/problem.js';
import { readInstant } from '../rating/index.js';

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

/** Instants in UTC: from the first on, and before the second. */
export interface TimeRange {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** `from` and `to` of a request as instants; 400 when they are none, or `from` is after. */
export function readTimeRange(given: TimeRange): TimeRange {
  const from = readTime('from', given.from);
  const to = readTime('to', given.to);
  if (from !== undefined && to !== undefined && from >= to) {
    throw problem.validation("'from' must be before 'to'", { field: 'from' });
  }
  return { from, to };
}
