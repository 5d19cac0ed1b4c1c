const buckets = ['minute', 'hour', 'day', 'week', 'month', 'none'] as const;
export type Bucket = (typeof buckets)[number];

export const bucketOf = ({ bucket }: { readonly bucket?: string }): Bucket =>
  buckets.find((one) => one === bucket) ?? 'day';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The API refuses more by minute. */
const minuteHoursMax = 6;
const lengths = { minute: minuteMs, hour: hourMs, day: dayMs, week: 7 * dayMs } as const;

/** From an instant, or the midnight of a day, on, and before another. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** When the bucket that begins at an instant is over. */
function endOf(start: string, bucket: Bucket): number {
  const at = new Date(start);
  if (bucket === 'none') return Infinity;
  return bucket === 'month'
    ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)
    : at.getTime() + lengths[bucket];
}

/** When the bucket begins that an instant is in; weeks with Monday, as the API has them. */
function startOf(ms: number, bucket: Exclude<Bucket, 'none'>): number {
  const at = new Date(ms);
  if (bucket === 'month') return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  const monday = bucket === 'week' ? 4 * dayMs : 0;
  return ms - ((((ms - monday) % lengths[bucket]) + lengths[bucket]) % lengths[bucket]);
}

/** Bars of a chart at most, which is about its pixels: of a longer time those that have something. */
const barsMax = 1_000;

/**
 * When each bar of a time begins, those of nothing, too, so that days stand apart as far as they are: from
 * where what is shown begins to where it ends or now is, or the last that has something. `hasMore`: it is not
 * known what there is after that. `hasGaps`: of so long a time there are those alone that have something.
 */
export function startsOf(
  shown: Range,
  bucket: Bucket,
  { used, hasMore = false }: { readonly used: readonly string[]; readonly hasMore?: boolean },
): { readonly starts: readonly string[]; readonly hasGaps: boolean } {
  const alone = [...new Set(used)].toSorted();
  if (bucket === 'none') return { starts: alone, hasGaps: false };
  const known = hasMore ? 0 : Math.min(Date.parse(shown.to) - 1, Date.now());
  const last = Math.max(known, Date.parse(alone.at(-1) ?? shown.from));
  const starts: string[] = [];
  let at = startOf(Date.parse(shown.from), bucket);
  while (at <= last) {
    if (starts.length === barsMax) return { starts: alone, hasGaps: true };
    const start = new Date(at).toISOString();
    starts.push(start);
    at = endOf(start, bucket);
  }
  return { starts, hasGaps: false };
}

/**
 * From the beginning of one bucket to the end of another, of what is shown: the first and the last may
 * begin before it and end after it.
 */
const within = ([first, last]: readonly [string, string], bucket: Bucket, shown: Range) => ({
  from: Math.max(Date.parse(first), Date.parse(shown.from)),
  to: Math.min(endOf(last, bucket), Date.parse(shown.to)),
});

const isMidnight = (ms: number): boolean => ms % dayMs === 0;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const instantOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** An end of a range: a day by its midnight. */
const endText = (ms: number): string => (isMidnight(ms) ? dayOf(ms) : instantOf(ms));

/** The time from one bucket to another, in steps of which there are enough to look at. */
export function zoomedTo(ends: readonly [string, string], bucket: Bucket, shown: Range) {
  const { from, to } = within(ends, bucket, shown);
  const hours = (to - from) / hourMs;
  const step: Bucket =
    hours <= minuteHoursMax
      ? 'minute'
      : hours <= 3 * 24
        ? 'hour'
        : hours <= 92 * 24
          ? 'day'
          : bucket;
  return { from: endText(from), to: endText(to), bucket: step };
}

/** The time of a bucket as lists of events take it, whose last day is in it. */
export function timeOf(start: string, bucket: Bucket, shown: Range): Range {
  const { from, to } = within([start, start], bucket, shown);
  return isMidnight(from) && isMidnight(to)
    ? { from: dayOf(from), to: dayOf(to - dayMs) }
    : { from: instantOf(from), to: instantOf(to) };
}

/** Where a range cuts a bucket: its end only where it is over, since later there is nothing yet. */
export function cutsOf(start: string, bucket: Bucket, shown: Range): string[] {
  const { from, to } = within([start, start], bucket, shown);
  return [
    ...(from > Date.parse(start) ? [`from ${endText(from)} on`] : []),
    ...(to < endOf(start, bucket) && to < Date.now() ? [`before ${endText(to)}`] : []),
  ];
}

/** The last hours of a time of which there are minutes: up to now, where it is not over. */
export function lastHoursOf({ from, to }: Range): Range {
  const end = Math.min(Date.parse(to), Math.ceil(Date.now() / hourMs) * hourMs);
  const begin = Math.max(Date.parse(from), end - minuteHoursMax * hourMs);
  return begin < end ? { from: instantOf(begin), to: instantOf(end) } : { from, to };
}
