import type { ReactNode } from 'react';
import { Bars, toneClass, type Bar } from '../charts/bars.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { instantText, quantityText } from '../shown/format.ts';
import { Empty } from '../shown/loaded.tsx';
import type { Status } from './queries.ts';

type Minute = Status['usage']['minutes'][number];

const kinds = [
  ['Rated', 'rated', 'good'],
  ['Rejected', 'rejected', 'bad'],
  ['Duplicate', 'duplicate', 'muted'],
] as const;

const minuteMs = 60_000;

/** `2026-04-01T08:05:00.000Z` as `08:05 UTC`. */
const minuteText = (minute: string): string => `${minute.slice(11, 16)} UTC`;

const startOf = (instant: string): number => Math.floor(Date.parse(instant) / minuteMs) * minuteMs;

const countOf = (minute: Minute): bigint =>
  kinds.reduce((sum, [, kind]) => sum + BigInt(minute[kind]), 0n);

const eventsText = (count: bigint): string =>
  count === 1n ? '1 event' : `${quantityText(String(count))} events`;

type Counted = Pick<Status, 'usage' | 'at'>;

/** A bar for each minute of the hour that was counted: of those that the API leaves out nothing came. */
function barsOf({ usage: { minutes, minutesSince }, at }: Counted): Bar[] {
  const known = new Map(minutes.map((each) => [each.minute, each]));
  const last = startOf(at);
  const first = Math.max(last - 59 * minuteMs, minutesSince === null ? 0 : startOf(minutesSince));
  return Array.from({ length: (last - first) / minuteMs + 1 }, (_each, index) => {
    const minute = new Date(first + index * minuteMs).toISOString();
    const of = known.get(minute);
    const parts = kinds.flatMap(([name, kind, tone]) => {
      const count = of?.[kind] ?? '0';
      return count === '0'
        ? []
        : [{ name, text: quantityText(count), length: Number(count), tone }];
    });
    const none = { name: 'nothing', text: '', length: 0, tone: 'muted' } as const;
    const total = eventsText(of === undefined ? 0n : countOf(of));
    return { name: minuteText(minute), total, parts: parts.length === 0 ? [none] : parts };
  });
}

/** The most that came in a minute, which is as high as the chart. */
const mostOf = (minutes: readonly Minute[]): bigint =>
  minutes.map(countOf).reduce((most, count) => (count > most ? count : most), 0n);

const columns: readonly Column<Minute>[] = [
  {
    name: 'Minute',
    show: ({ minute }) => <time dateTime={minute}>{minuteText(minute)}</time>,
  },
  ...kinds.map(([name, kind]) => ({
    name,
    isNumber: true,
    show: (row: Minute) => quantityText(row[kind]),
  })),
];

/** What was rated in the last hour, minute by minute. */
export function RatedMinutes({ usage, at }: Counted): ReactNode {
  const { minutes, minutesSince } = usage;
  const most = eventsText(mostOf(minutes));
  if (minutesSince !== null && minutes.length === 0) {
    return <p>So much was rated in this minute that it is not counted before it is over.</p>;
  }
  if (minutes.length === 0) {
    return (
      <Empty>
        <p>
          Nothing was rated in the last hour. Events come in by{' '}
          <a href="/docs#tag/usage-ingestion">the API</a>, or from a file:
        </p>
        <p>
          <code>npm run --silent durabill -- ingest usage.ndjson</code>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <p>
        How many events were rated, rejected or found twice in each minute of the last hour: at most{' '}
        {most}.
      </p>
      <ul className="legend" aria-label="Colours">
        {kinds.map(([name, , tone]) => (
          <li key={name}>
            <span className={`dot ${toneClass(tone)}`} aria-hidden="true" /> {name}
          </li>
        ))}
      </ul>
      <Bars name="Events by minute" bars={barsOf({ usage, at })} />
      {minutesSince === null ? null : (
        <p>So much was rated that minutes are counted from {instantText(minutesSince)} only.</p>
      )}
      <details>
        <summary>Minutes as a table</summary>
        <DataTable
          caption="Minutes in which something was rated, the newest first"
          columns={columns}
          rows={minutes.toReversed()}
          keyOf={({ minute }) => minute}
        />
      </details>
    </>
  );
}
