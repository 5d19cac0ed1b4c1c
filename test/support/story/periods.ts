/** A month as `2028-02`, or the first and the last day of what is billed. */
export type Period = string | readonly [first: string, last: string];

/** The first and the last day of a period: of `2028-02`, a leap February, `2028-02-01` and `2028-02-29`. */
export function daysOf(period: Period): readonly [first: string, last: string] {
  if (typeof period !== 'string') return period;
  const [year = 0, month = 0] = period.split('-').map(Number);
  // The day before the first of the next month; the month after this one has this one's number.
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return [`${period}-01`, `${period}-${last}`];
}

/** The month after one: of `2028-12`, `2029-01`. */
export function monthAfter(period: string): string {
  const [year = 0, month = 0] = period.split('-').map(Number);
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 7);
}

/** So many months one after the other, from the first one on. */
export function monthsFrom(first: string, count: number): string[] {
  const months = [first];
  while (months.length < count) months.push(monthAfter(months.at(-1) ?? first));
  return months;
}
