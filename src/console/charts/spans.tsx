import type { ReactNode } from 'react';

/** What holds from a day on, until the next one does. */
interface Span {
  readonly name: string;
  /** Days, as `2026-03-01`. */
  readonly from: string;
  readonly to: string | null;
  /** What is said of it beside its days. */
  readonly note?: string;
}

const width = 1_000;

/** Where days lie between the first and the last one, with some room after it; for drawing alone. */
function scaleOf(days: readonly string[]): (day: string) => number {
  const times = days.map((day) => Date.parse(day));
  const first = Math.min(...times);
  const length = (Math.max(...times) - first) * 1.1 || 1;
  return (day) => (width * (Date.parse(day) - first)) / length;
}

/** What followed each other on a time line, the earliest left, with today as a mark; each is said below. */
export function Spans({
  name,
  spans,
  today,
}: {
  readonly name: string;
  /** The earliest first. */
  readonly spans: readonly Span[];
  readonly today: string;
}): ReactNode {
  const placeOf = scaleOf([...spans.map(({ from }) => from), today]);
  return (
    <figure aria-label={name}>
      <svg className="tiers" viewBox="0 0 1000 60" preserveAspectRatio="none" aria-hidden="true">
        {spans.map(({ name: of, from }, at) => {
          const x = placeOf(from);
          const next = spans[at + 1];
          const end = next === undefined ? width : placeOf(next.from);
          return (
            <rect
              key={of}
              className={at % 2 === 0 ? 'tier' : 'tier other'}
              x={x}
              y="14"
              width={Math.max(2, end - x)}
              height="32"
            />
          );
        })}
        <path className="mark" d={`M${Math.max(2, placeOf(today))} 4v52`} />
      </svg>
      <ol className="lines">
        {spans.map(({ name: of, from, to, note }) => (
          <li key={of}>
            {of}: from {from}
            {to === null ? '' : ` to ${to}`}
            {note === undefined ? '' : `, ${note}`}
          </li>
        ))}
      </ol>
      <figcaption>From left to right as listed; the line is today, {today}.</figcaption>
    </figure>
  );
}
