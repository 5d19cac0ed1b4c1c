import { problem } from '../../kernel/problem.js';

/** The first and the last day of something, both inclusive; null where it is open. */
interface DateRange {
  readonly startDate?: string | null;
  readonly endDate?: string | null;
}

/**
 * 400 unless the range ends on or after the day it starts (spec/resources.md R24). Dates that the
 * change leaves out are taken from `stored`. `at` is the path of the dates in the request.
 */
export function requireDateOrder(change: DateRange, stored: DateRange = {}, at = ''): void {
  const start = change.startDate === undefined ? stored.startDate : change.startDate;
  const end = change.endDate === undefined ? stored.endDate : change.endDate;
  if (start === undefined || start === null || end === undefined || end === null) return;
  if (end < start) {
    const field = change.endDate === undefined ? `${at}startDate` : `${at}endDate`;
    throw problem.validation(
      (nameOf) =>
        `'${nameOf(`${at}endDate`)}' (${end}) is before '${nameOf(`${at}startDate`)}' (${start})`,
      {
        field,
        value: change.endDate === undefined ? start : end,
      },
    );
  }
}
