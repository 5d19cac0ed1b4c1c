import { Type, type TUnsafe } from 'typebox';
import { FreeText } from '../fields/field.js';

interface WholeNumberRule {
  readonly minimum: number;
  /** A larger value counts as this one. */
  readonly cap?: number;
}

/** A whole number in a query string, or as a number in a body. */
export const WholeNumber = (
  options: { description: string; default?: number } & WholeNumberRule,
): TUnsafe<number> => {
  const { minimum, cap, ...annotations } = options;
  return Type.Unsafe<number>({
    ...annotations,
    wholeNumber: cap === undefined ? { minimum } : { minimum, cap },
  });
};

/** `true` or `false` in a query string. */
export const Flag = (description: string, byDefault = false): TUnsafe<boolean> =>
  Type.Unsafe<boolean>({ description, flag: true, default: byDefault });

const pageProperties = (sizeDefault: number) => ({
  page: WholeNumber({ description: 'Page, counted from 0.', minimum: 0, default: 0 }),
  size: WholeNumber({
    description: `Rows a page, at most ${sizeDefault}.`,
    minimum: 1,
    cap: sizeDefault,
    default: sizeDefault,
  }),
});

/** `page` and `size` of billing lists (spec/resources.md R12, R13). */
export const pageQuery = pageProperties(20);
/** `page` and `size` of the countries and currencies. */
export const referencePageQuery = pageProperties(100);

export const viewQuery = {
  view: Type.Optional(
    Type.Literal('row', { description: 'Answer with the envelope and the PascalCase row.' }),
  ),
};

/** Text to search for; an empty one, as an empty input field sends it, searches for nothing. */
export const searchQuery = (fields: string) => ({
  q: Type.Optional(FreeText(`Part of ${fields}, in any letter case.`, 255)),
});

/** `limit` and `offset` (spec/platform.md R16). */
export const offsetQuery = {
  limit: WholeNumber({
    description: 'Items a page, at most 1000.',
    minimum: 1,
    cap: 1000,
    default: 50,
  }),
  offset: WholeNumber({ description: 'Items to skip.', minimum: 0, default: 0 }),
};

/** The part of a query that a list needs: both pagings as one. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

/** The largest number of items up to this one with which pages can be counted on from here. */
export function sizeFrom(offset: number, most: number): number {
  let size = most;
  while (offset % size !== 0) size -= 1;
  return size;
}

export const pageRequest = (query: { page: number; size: number }): PageRequest => ({
  limit: query.size,
  offset: query.page * query.size,
});

/** A date or an instant in a query or filter: see `queries/lists/time-range.ts`. */
const timeText = (description: string): TUnsafe<string> =>
  Type.Unsafe<string>({
    description: `${description} A date (a whole day in UTC) or an instant.`,
    dateOrInstant: true,
  });

/** `from` and `to` of a list of what happened; `what` is in the plural. */
export const timeRangeQuery = (what: string) => ({
  from: Type.Optional(timeText(`${what} from here on.`)),
  to: Type.Optional(timeText(`${what} before here; of a date, that day included.`)),
});

/** `from` and `to` of sums: `[from, to)`, a date as its midnight in UTC (spec/beyond.md R2). */
export const halfOpenRangeQuery = (what: string) => ({
  from: Type.Optional(
    Type.Unsafe<string>({
      description: `${what} from here on: an instant, or a date as its UTC midnight.`,
      dateOrInstant: true,
    }),
  ),
  to: Type.Optional(
    Type.Unsafe<string>({
      description: `${what} before here, likewise.`,
      dateOrInstant: true,
    }),
  ),
});

/** The instant of which an answer is what was known then. */
export const knownOnQuery = Type.Unsafe<string>({
  description:
    'The answer as it was known at this instant (a date: its UTC midnight), before later corrections.',
  dateOrInstant: true,
});
