/** How often a usage counter starts again at zero; the seeded names of picklist meterResetFrequency. */
export const frequencies = [
  'Daily',
  'Weekly',
  'Fortnightly',
  'Monthly',
  'Quarterly',
  'Half Yearly',
  'Yearly',
] as const;
export type Frequency = (typeof frequencies)[number];

/** Calendar dates in UTC, half-open: `start` belongs to the period, `end` to the next one. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

/** The period of a counter that is never reset; real dates, so that they fit a unique key. */
export const foreverPeriod: Period = { start: '0001-01-01', end: '9999-12-31' };

export function isFrequency(text: string): text is Frequency {
  return (frequencies as readonly string[]).includes(text);
}

const dayMs = 86_400_000;
/** A Monday from which weeks and fortnights count, in both directions. */
const anchorDay = Date.UTC(2024, 0, 1) / dayMs;

/** Periods that were asked for lately: usage is of few days. */
const known = new Map<string, Period>();
const knownMax = 1_000;

/** The calendar period that holds a date (`YYYY-MM-DD`, UTC), for ever with 'none'. */
export function periodOf(frequency: Frequency | 'none', date: string): Period {
  const key = frequency + date;
  let period = known.get(key);
  if (period === undefined) {
    period = findPeriod(frequency, date);
    if (known.size >= knownMax) known.clear();
    known.set(key, period);
  }
  return period;
}

function findPeriod(frequency: Frequency | 'none', date: string): Period {
  switch (frequency) {
    case 'none':
      return foreverPeriod;
    case 'Daily':
      return daysFromAnchor(date, 1);
    case 'Weekly':
      return daysFromAnchor(date, 7);
    case 'Fortnightly':
      return daysFromAnchor(date, 14);
    case 'Monthly':
      return wholeMonths(date, 1);
    case 'Quarterly':
      return wholeMonths(date, 3);
    case 'Half Yearly':
      return wholeMonths(date, 6);
    case 'Yearly':
      return wholeMonths(date, 12);
  }
}

function daysFromAnchor(date: string, length: number): Period {
  const day = Date.parse(`${date}T00:00:00Z`) / dayMs;
  const start = anchorDay + Math.floor((day - anchorDay) / length) * length;
  return { start: dateOfDay(start), end: dateOfDay(start + length) };
}

/** Divides the year into blocks of so many months, the first beginning in January. */
function wholeMonths(date: string, length: number): Period {
  const year = Number(date.slice(0, 4));
  const month = Number(date.slice(5, 7)) - 1;
  const first = month - (month % length);
  const next = first + length;
  return {
    start: firstOfMonth(year, first),
    end: firstOfMonth(year + Math.floor(next / 12), next % 12),
  };
}

function firstOfMonth(year: number, month: number): string {
  return `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}-01`;
}

function dateOfDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
