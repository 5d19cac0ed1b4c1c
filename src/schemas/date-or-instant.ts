import { isCalendarDate } from '../kernel/date.js';
import { readInstant } from '../rating/index.js';

const dayMs = 86_400_000;
/** What the database can hold and a text of ours can name; a filter beyond it means the same. */
const earliestMs = Date.parse('0001-01-01T00:00:00Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

const instantAt = (ms: number): string =>
  new Date(Math.min(Math.max(ms, earliestMs), latestMs)).toISOString();

/** RFC 3339, for the years that no usage event may have. */
const strictForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The instants that a text means as the beginning and as the end of a span, in UTC. */
interface Bounds {
  readonly from: string;
  readonly to: string;
}

/**
 * A date is the whole of that day in UTC, whose end is the next midnight; an instant is itself. The
 * end is exclusive. `undefined` when the text is neither.
 */
export function readDateOrInstant(text: string): Bounds | undefined {
  if (isCalendarDate(text)) {
    const start = Date.parse(`${text}T00:00:00Z`);
    return { from: instantAt(start), to: instantAt(start + dayMs) };
  }
  const read = readInstant(text)?.timestamp;
  if (read !== undefined) return { from: read, to: read };
  const ms = strictForm.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(ms) ? undefined : { from: instantAt(ms), to: instantAt(ms) };
}
