import { problem } from '../../kernel/problem.js';
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
  const from = given.from === undefined ? undefined : readDateOrInstant(given.from)?.from;
  const to = given.to === undefined ? undefined : readDateOrInstant(given.to)?.to;
  if (from !== undefined && to !== undefined && from >= to) {
    throw problem.validation("'from' must be before 'to'", { field: 'from' });
  }
  return { from, to };
}
