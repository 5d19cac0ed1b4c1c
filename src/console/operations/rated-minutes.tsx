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

/** A bar for each minute from the first one on: of those that the API leaves out nothing was rated. */
function barsOf(minutes: readonly Minute[], at: string): Bar[] {
  const known = new Map(minutes.map((each) => [each.minute, each]));
  const first = Date.parse(minutes[0]?.minute ?? at);
  const count = Math.floor((Date.parse(at) - first) / minuteMs) + 1;
  return Array.from({ length: Math.max(1, count) }, (_each, index) => {
    const minute = new Date(first + index * minuteMs).toISOString();
    const of = known.get(minute);
    return {
      name: minuteText(minute),
      parts: kinds.map(([name, kind, tone]) => ({
        name,
        text: quantityText(of?.[kind] ?? '0'),
        length: Number(of?.[kind] ?? '0'),
        tone,
      })),
    };
  });
}

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
export function RatedMinutes({ usage, at }: Pick<Status, 'usage' | 'at'>): ReactNode {
  const { minutes, minutesSince } = usage;
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
      <ul className="legend" aria-label="Colours">
        {kinds.map(([name, , tone]) => (
          <li key={name}>
            <span className={`dot ${toneClass(tone)}`} aria-hidden="true" /> {name}
          </li>
        ))}
      </ul>
      <Bars name="Events by minute" bars={barsOf(minutes, at)} />
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
