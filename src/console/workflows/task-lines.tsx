import type { ReactNode } from 'react';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Json } from '../shown/json.tsx';
import { ActorName } from '../shown/names.tsx';
import { Instant, orNone, Status } from '../shown/values.tsx';
import type { TaskRow } from './queries.ts';

const msOf = (instant: string): number => Date.parse(instant);

const wordsOf = (ms: number): string =>
  ms < 1_000
    ? `${ms} ms`
    : ms < 60_000
      ? `${Math.round(ms / 100) / 10} s`
      : `${Math.round(ms / 6_000) / 10} min`;

/** How long something took that has a begin and, perhaps, an end. */
export const durationText = (startedAt: string, endedAt: string | null): string =>
  endedAt === null ? 'still runs' : wordsOf(msOf(endedAt) - msOf(startedAt));

const tones: Readonly<Record<string, string>> = {
  completed: 'good',
  running: 'open',
  failed: 'bad',
};

/** When each task ran, from the begin of the first to the end of the last. */
function Bars({ rows }: { readonly rows: readonly TaskRow[] }): ReactNode {
  const begin = Math.min(...rows.map(({ startedAt }) => msOf(startedAt)));
  const ends = rows.map(({ startedAt, endedAt }) => msOf(endedAt ?? startedAt));
  const took = Math.max(...ends) - begin;
  const isOver = rows.every(({ endedAt }) => endedAt !== null);
  const all = Math.max(1, took);
  const line = 24;
  return (
    <>
      <svg
        className="task-bars"
        style={{ height: `${rows.length * 1.5}rem` }}
        viewBox={`0 0 1000 ${rows.length * line}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {rows.map((row, index) => {
          const x = (1_000 * (msOf(row.startedAt) - begin)) / all;
          const end = row.endedAt === null ? begin + all : msOf(row.endedAt);
          const width = (1_000 * (end - msOf(row.startedAt))) / all;
          return (
            <rect
              key={row.seq}
              className={`fill-${tones[row.status] ?? 'muted'}`}
              x={Math.min(x, 994)}
              width={Math.max(6, width)}
              y={index * line + 4}
              height={line - 8}
            />
          );
        })}
      </svg>
      <div className="axis" aria-hidden="true">
        <span>0</span>
        <span>{isOver ? wordsOf(took) : 'still runs'}</span>
      </div>
    </>
  );
}

/** What a run of a task was given and gave. */
const Exchanged = ({ row }: { readonly row: TaskRow }): ReactNode => (
  <details>
    <summary>{row.error === null ? 'Input and output' : 'Input and error'}</summary>
    <p className="muted">Input</p>
    <Json of={row.input} />
    <p className="muted">{row.error === null ? 'Output' : 'Error'}</p>
    <Json of={row.error ?? row.output} />
  </details>
);

const columns: readonly Column<TaskRow>[] = [
  { name: 'Task', show: ({ name }) => <bdi>{name}</bdi> },
  { name: 'Kind', show: ({ kind }) => kind },
  {
    name: 'Status',
    show: ({ status, undoneAt }) => (
      <>
        <Status name={status} /> {undoneAt === null ? null : 'taken back'}
      </>
    ),
  },
  { name: 'Began', show: ({ startedAt }) => <Instant at={startedAt} /> },
  {
    name: 'Took',
    isNumber: true,
    show: ({ startedAt, endedAt }) => durationText(startedAt, endedAt),
  },
  { name: 'Tries', isNumber: true, show: ({ attempts }) => String(attempts) },
  {
    name: 'Decided',
    show: ({ approval }) =>
      approval === null
        ? orNone(null)
        : approval.decisions.length === 0
          ? `approval is ${approval.status}`
          : approval.decisions.map(({ decision, decidedBy }, index) => (
              <span key={decidedBy}>
                {index === 0 ? '' : ', '}
                {decision} by <ActorName actor={decidedBy} />
              </span>
            )),
  },
  { name: 'Details', show: (row) => <Exchanged row={row} /> },
];

/** The tasks of an execution on a time line, and in a table. */
export const TaskLines = ({ rows }: { readonly rows: readonly TaskRow[] }): ReactNode => (
  <figure aria-label="Time line of the tasks">
    <Bars rows={rows} />
    <DataTable
      caption="Tasks in the order in which they began"
      columns={columns}
      rows={rows}
      keyOf={({ seq }) => String(seq)}
    />
  </figure>
);
