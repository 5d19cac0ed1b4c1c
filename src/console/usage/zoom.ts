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

/**
 * Days from one bucket to another, of those that are shown (the first and the last week or month may begin
 * before them and end after them), in steps of which there are enough to look at.
 */
export function zoomedTo(
  [first, last]: readonly [string, string],
  bucket: Bucket,
  shown: { readonly from: string; readonly to: string },
) {
  const from = first < shown.from ? shown.from : first;
  const end = endOf(last, bucket);
  const to = end > shown.to ? shown.to : end;
  const days = (Date.parse(to) - Date.parse(from)) / dayMs;
  const step: Bucket = days <= 3 ? 'hour' : days <= 92 ? 'day' : bucket;
  return { from, to, bucket: step };
}
