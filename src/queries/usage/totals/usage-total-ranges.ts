import type { TimeRange } from '../../lists/time-range.js';

const hourMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * The source of totals for a range: stored totals of a grain, or the rated transactions (facts).
 */
export type TotalSource = 'day' | 'coarse hour' | 'coarse day' | 'facts';

/** Instants in UTC, [from, to); null: open. */
export interface SourceRange {
  readonly source: TotalSource;
  readonly from: string | null;
  readonly to: string | null;
}

/** `Date` drops microseconds; the text has them. */
const isOn = (instant: string, unitMs: number): boolean =>
  Date.parse(instant) % unitMs === 0 && /:\d\d(\.0*)?Z$/.test(instant);

/** The first start of a unit at or after the instant. */
function nextStart(instant: string | null, unitMs: number): string | null {
  if (instant === null || isOn(instant, unitMs)) return instant;
  return new Date(Math.floor(Date.parse(instant) / unitMs) * unitMs + unitMs).toISOString();
}

/** The last start of a unit at or before the instant. */
function last(instant: string | null, unitMs: number): string | null {
  if (instant === null) return null;
  return new Date(Math.floor(Date.parse(instant) / unitMs) * unitMs).toISOString();
}

const isBefore = (a: string | null, b: string | null): boolean => a === null || b === null || a < b;

/**
 * Divides a range among sources: whole units from `best`, the rest at both ends from finer ones.
 * With coarse days, from 10:30 of the 1st to 02:15 of the 4th: facts to 11:00, hours to midnight,
 * the days 2 and 3, two hours, facts to 02:15.
 */
export function divideRange(range: TimeRange, best: TotalSource): SourceRange[] {
  const whole = { from: range.from ?? null, to: range.to ?? null };
  if (best === 'facts') return facts(whole);
  if (best === 'day') return divide(whole, dayMs, 'day', facts);
  if (best === 'coarse hour') return divide(whole, hourMs, 'coarse hour', facts);
  return divide(whole, dayMs, 'coarse day', (rest) => divideRange(rangeOf(rest), 'coarse hour'));
}

const rangeOf = ({ from, to }: Ends): TimeRange => ({
  from: from ?? undefined,
  to: to ?? undefined,
});

type Ends = Omit<SourceRange, 'source'>;

const facts = (range: Ends): SourceRange[] => [{ source: 'facts', ...range }];

/**
 * Whole units of a range from one source; the parts before and after them are divided by `rest`.
 */
function divide(
  range: Ends,
  unitMs: number,
  source: TotalSource,
  rest: (range: Ends) => SourceRange[],
): SourceRange[] {
  const from = nextStart(range.from, unitMs);
  const to = last(range.to, unitMs);
  if (!isBefore(from, to)) return isBefore(range.from, range.to) ? rest(range) : [];
  const before = from === range.from ? [] : rest({ from: range.from, to: from });
  const after = to === null || isOn(range.to ?? '', unitMs) ? [] : rest({ from: to, to: range.to });
  return [...before, { source, from, to }, ...after];
}
