/** An instant as rating uses it: UTC text, and the calendar date on which it falls in UTC. */
export interface Instant {
  readonly timestamp: string;
  readonly date: string;
}

const isoDateTime =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)?$/;

/** Outside these years a timestamp is a fault of its producer, not usage (docs/decisions/0015). */
const yearMin = 1900;
const yearMax = 9998;

/**
 * Reads an ISO 8601 date-time in its extended form; without an offset it is UTC. Months have the
 * days they really have, a leap second counts as the second before it, and digits beyond the
 * microsecond, which the database cannot hold, are cut off. `null` when it is no such text.
 */
export function readInstant(text: string): Instant | null {
  const match = isoDateTime.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [hour, minute] = [Number(match[4]), Number(match[5])];
  const second = Number(match[6] ?? 0);
  const offsetMinutes = readOffset(match[8], match[9], match[10]);
  if (hour > 23 || minute > 59 || second > 60 || offsetMinutes === null) return null;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (year < yearMin || year > yearMax) return null;
  const fraction = (match[7] ?? '').padEnd(9, '0');
  const milliseconds = fraction.slice(0, 3);
  // In UTC already, which most are: the same digits.
  const isUtc = match[8] === undefined && second < 60;
  const at = Date.UTC(year, month - 1, day, hour, minute - offsetMinutes, Math.min(second, 59));
  const utc = isUtc
    ? `${text.slice(0, 10)}T${text.slice(11, 16)}:${match[6] ?? '00'}.${milliseconds}Z`
    : new Date(at + Number(milliseconds)).toISOString();
  const microseconds = fraction.slice(3, 6);
  const timestamp = microseconds === '000' ? utc : `${utc.slice(0, -1)}${microseconds}Z`;
  return { timestamp, date: utc.slice(0, 10) };
}

function readOffset(
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
): number | null {
  if (sign === undefined) return 0;
  const [hour, minute] = [Number(hours), Number(minutes ?? 0)];
  if (hour > 23 || minute > 59) return null;
  return (sign === '-' ? -1 : 1) * (hour * 60 + minute);
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
