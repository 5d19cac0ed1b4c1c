import { isCalendarDate } from '../../kernel/time/date.js';
import { readInstant } from '../../rating/index.js';

const dayMs = 86_400_000;
/**
 * What the database can hold and a text of ours can name, as a beginning and as an end: a filter beyond it
 * means the same. The days before the one and after the other are still such days.
 */
const limits = {
  from: [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T00:00:00Z')],
  to: [Date.parse('0001-01-02T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')],
} as const;

function boundsAt(fromMs: number, toMs: number): Bounds {
  const within = (ms: number, [least, most]: readonly [number, number]): string =>
    new Date(Math.min(Math.max(ms, least), most)).toISOString();
  return { from: within(fromMs, limits.from), to: within(toMs, limits.to) };
}

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
    return boundsAt(start, start + dayMs);
  }
  const read = readInstant(text)?.timestamp;
  if (read !== undefined) return { from: read, to: read };
  const ms = strictForm.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(ms) ? undefined : boundsAt(ms, ms);
}
