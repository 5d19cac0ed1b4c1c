/** Five fields: minute, hour, day of the month, month, day of the week; and whose hours these are. */
export interface Cron {
  readonly cron: string;
  /** A name of the IANA's; UTC when it is left out. */
  readonly timeZone?: string | undefined;
}

const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;
const dayMs = 86_400_000;
/** Days that are looked through: 29 February may be eight years away. */
const daysMax = 9 * 366;

/** The values of a field such as `1-5`, `*` with a step, or a list of these. */
function valuesOf(field: string, [least, most]: readonly [number, number]): Set<number> {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step] = part.split('/');
    const [from = '', to] = range.split('-');
    const first = range === '*' ? least : Number(from);
    const last =
      range === '*' || (to === undefined && step !== undefined) ? most : Number(to ?? from);
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

/** How far a zone's clocks are ahead of UTC at an instant. */
function openOffsets(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
  };
}

/**
 * The instant at which clocks show a time. Shown twice, it is the first one; left out when clocks are put
 * forward, it is as much later.
 */
function instantOf(local: number, offset: (at: number) => number): number {
  const before = offset(local - dayMs);
  const after = offset(local + dayMs);
  const first = local - before;
  if (offset(first) === before) return first;
  const second = local - after;
  return offset(second) === after ? second : first;
}

/**
 * The next instant after another at which a cron falls due; undefined: it never does. As everywhere,
 * where days of the month and of the week are both limited, one of them is enough.
 */
export function nextOccurrence({ cron, timeZone = 'UTC' }: Cron, after: Date): Date | undefined {
  const fields = cron.trim().split(/\s+/);
  const [minutes, hours, days, months, weekdays] = ranges.map((range, index) =>
    valuesOf(fields[index] ?? '*', range),
  );
  if (!minutes || !hours || !days || !months || !weekdays) return undefined;
  if (weekdays.has(7)) weekdays.add(0);
  const isEitherDay = !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*');
  const isDay = (date: Date): boolean => {
    if (!months.has(date.getUTCMonth() + 1)) return false;
    const isOfMonth = days.has(date.getUTCDate());
    const isOfWeek = weekdays.has(date.getUTCDay());
    return isEitherDay ? isOfMonth || isOfWeek : isOfMonth && isOfWeek;
  };
  const offset = openOffsets(timeZone);
  const start = after.getTime();
  const today = Math.floor((start + offset(start)) / dayMs) * dayMs;
  // A time of yesterday that clocks left out may be today.
  for (let day = today - dayMs; day <= today + daysMax * dayMs; day += dayMs) {
    if (!isDay(new Date(day))) continue;
    let next = Infinity;
    for (const hour of hours) {
      for (const minute of minutes) {
        const at = instantOf(day + (hour * 60 + minute) * 60_000, offset);
        if (at > start && at < next) next = at;
      }
    }
    if (next !== Infinity) return new Date(next);
  }
  return undefined;
}
