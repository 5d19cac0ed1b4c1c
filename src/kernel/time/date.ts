const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Whether the text is `YYYY-MM-DD` and such a day exists; years 0001 to 9999. */
export function isCalendarDate(text: string): boolean {
  const match = datePattern.exec(text);
  if (!match || match[1] === '0000') return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().slice(0, 10) === text;
}

/** The calendar date of an instant, in UTC. */
export function utcDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** The day before a calendar date, e.g. the last day of a superseded rate-card version. */
export function dayBefore(date: string): string {
  return utcDate(new Date(Date.parse(`${date}T00:00:00Z`) - 86_400_000));
}

const dayMs = 86_400_000;

/** The day after a calendar date. */
export function dayAfter(date: string): string {
  return addDays(date, 1);
}

/** So many days after a calendar date. */
export function addDays(date: string, days: number): string {
  return utcDate(new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs));
}

/** How many days there are from one calendar date to another, both counted. */
export function daysFrom(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / dayMs) + 1;
}
