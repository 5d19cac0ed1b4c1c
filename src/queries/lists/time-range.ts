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
  if (range.from !== undefined && range.from === range.to) throw notInOrder(given);
  return range;
}

/**
 * The same as `[from, to)`, a date as its midnight (spec/beyond.md R2). 400: `from` is after `to`. Where
 * they are equal, nothing is between them.
 */
export function readHalfOpenRange(given: TimeRange): TimeRange {
  return instantsOf(given, 'from');
}

/**
 * The range of something that is done, as `[from, to)`. 400: an end is missing, or `from` is not before
 * `to`: whoever asks for nothing has mistaken the last day for the end (docs/decisions/0372).
 */
export function requireHalfOpenRange(given: TimeRange): { from: string; to: string } {
  const { from, to } = readHalfOpenRange(given);
  if (from === undefined || to === undefined) {
    throw problem.validation("'from' and 'to' are required", { field: 'from' });
  }
  if (from === to) throw notInOrder(given);
  return { from, to };
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
  if (from !== undefined && to !== undefined && from > to) throw notInOrder(given);
  return { from, to };
}

const notInOrder = ({ from, to }: TimeRange): Problem =>
  problem.validation(`'from' must be before 'to': '${from}' is not before '${to}'`, {
    field: 'from',
    value: from,
  });
