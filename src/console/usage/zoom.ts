const buckets = ['hour', 'day', 'week', 'month', 'none'] as const;
export type Bucket = (typeof buckets)[number];

export const bucketOf = ({ bucket }: { readonly bucket?: string }): Bucket =>
  buckets.find((one) => one === bucket) ?? 'day';

const dayMs = 86_400_000;
const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

/** The first day after the bucket that begins on a day. */
const endOf = (day: string, bucket: Bucket): string =>
  bucket === 'month'
    ? dayOf(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 1))
    : dayOf(Date.parse(day) + (bucket === 'week' ? 7 : 1) * dayMs);

/** Days from one bucket to another, in steps of which there are enough to look at. */
export function zoomedTo(first: string, last: string, bucket: Bucket) {
  const to = endOf(last, bucket);
  const days = (Date.parse(to) - Date.parse(first)) / dayMs;
  const shown: Bucket = days <= 3 ? 'hour' : days <= 92 ? 'day' : bucket;
  return { from: first, to, bucket: shown };
}
