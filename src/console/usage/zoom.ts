const buckets = ['hour', 'day', 'week', 'month', 'none'] as const;
export type Bucket = (typeof buckets)[number];

export const bucketOf = ({ bucket }: { readonly bucket?: string }): Bucket =>
  buckets.find((one) => one === bucket) ?? 'day';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lengths = { hour: hourMs, day: dayMs, week: 7 * dayMs } as const;

/** From an instant, or the midnight of a day, on, and before another. */
interface Range {
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

/** The time from one bucket to another, in steps of which there are enough to look at. */
export function zoomedTo(ends: readonly [string, string], bucket: Bucket, shown: Range) {
  const { from, to } = within(ends, bucket, shown);
  const days = (to - from) / dayMs;
  const step: Bucket = days <= 3 ? 'hour' : days <= 92 ? 'day' : bucket;
  return { from: dayOf(from), to: dayOf(to), bucket: step };
}

/** The time of a bucket as lists of events take it, whose last day is in it. */
export function timeOf(start: string, bucket: Bucket, shown: Range): Range {
  const { from, to } = within([start, start], bucket, shown);
  return isMidnight(from) && isMidnight(to)
    ? { from: dayOf(from), to: dayOf(to - dayMs) }
    : { from: instantOf(from), to: instantOf(to) };
}
