import type { ReactNode } from 'react';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Json } from '../shown/json.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import type { DryRun } from './queries.ts';
import { TaskLines } from './task-lines.tsx';

const calls: readonly Column<DryRun['calls'][number]>[] = [
  { name: 'Call', show: ({ call }) => <code>{call}</code> },
  { name: 'Task', show: ({ path }) => <code>{path}</code> },
  { name: 'Why', show: ({ isUndo }) => (isUndo ? 'takes back what the task did' : 'the task') },
  {
    name: 'Gives',
    show: ({ isFaked }) => (isFaked ? 'what you said' : 'nothing that was said'),
  },
  {
    name: 'With',
    show: (row) => (
      <details>
        <summary>With what</summary>
        <Json of={row.with} />
      </details>
    ),
  },
];

const known = { undoneAt: null, approval: null, workflowVersion: null };

/** What an execution would do, call by call and task by task. */
export const DryRunResult = ({ of }: { readonly of: DryRun }): ReactNode => (
  <section aria-label="What an execution would do">
    <Facts
      of={[
        ['It would be', <Status key="status" name={of.status} />],
        ['Version', of.version],
        ['It would end', <Instant key="end" at={of.endedAt} />],
        ['It would take back', orNone(of.undone.join(', '))],
        ['Output', <Json key="output" of={of.output} />],
        ['Error', <Json key="error" of={of.error} />],
      ]}
    />
    {of.calls.length === 0 ? (
      <p>It would call nothing.</p>
    ) : (
      <DataTable
        caption="What it would call"
        columns={calls}
        rows={of.calls}
        keyOf={({ seq, isUndo }) => `${seq} ${String(isUndo)}`}
      />
    )}
    {of.tasks.length === 0 ? null : (
      <TaskLines rows={of.tasks.map((task) => ({ ...task, ...known }))} />
    )}
  </section>
);
