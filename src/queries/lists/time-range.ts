import { problem, type Problem } from '../../kernel/problem.js';
import { readDateOrInstant } from '../../schemas/fields/date-or-instant.js';

/** From the first on, and before the second. */
export interface TimeRange {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * `from` and `to` of a request, which their schema has accepted, as instants in UTC. 400: `from` is
 * not before `to`.
 */
export function readTimeRange(given: TimeRange): TimeRange {
  const range = instantsOf(given, 'to');
  if (range.from !== undefined && range.from === range.to) throw notInOrder();
  return range;
}

/** The same as `[from, to)`, a date as its midnight (spec/beyond.md R2). 400: `from` is after `to`. */
export function readHalfOpenRange(given: TimeRange): TimeRange {
  return instantsOf(given, 'from');
}

/** An instant, or the midnight of a date, of which an answer is what was known then. */
export const readInstantOf = (given: string | undefined): Date | null => {
  const instant = given === undefined ? undefined : readDateOrInstant(given)?.from;
  return instant === undefined ? null : new Date(instant);
};

/** `endAs`: which end of its day a date in `to` means. */
function instantsOf(given: TimeRange, endAs: 'from' | 'to'): TimeRange {
  const from = given.from === undefined ? undefined : readDateOrInstant(given.from)?.from;
  const to = given.to === undefined ? undefined : readDateOrInstant(given.to)?.[endAs];
  if (from !== undefined && to !== undefined && from > to) throw notInOrder();
  return { from, to };
}

const notInOrder = (): Problem =>
  problem.validation("'from' must be before 'to'", { field: 'from' });
