import { isCalendarDate } from './date.js';

const instantForm =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/;

/**
 * What a date field of a record holds, as an instant with its offset: a date is its midnight, an
 * instant without offset is UTC. Null when the text is neither `YYYY-MM-DD` nor an ISO 8601 instant
 * of at most microseconds (docs/decisions/0086).
 */
export function instantOf(text: string): string | null {
  if (isCalendarDate(text)) return `${text}T00:00:00Z`;
  const match = instantForm.exec(text);
  if (!match || !isCalendarDate(match[1] ?? '')) return null;
  const instant = match[2] === undefined ? `${text}Z` : text;
  // An offset may lead out of the years that the database writes with four digits.
  const year = new Date(instant).getUTCFullYear();
  return year >= 1 && year <= 9999 ? instant : null;
}
