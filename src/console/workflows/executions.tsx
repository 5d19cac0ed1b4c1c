import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useList } from '../api/use-list.ts';
import type { Column } from '../shown/data-table.tsx';
import { Filters } from '../shown/filters.tsx';
import { Listed } from '../shown/listed.tsx';
import { ActorName } from '../shown/names.tsx';
import { Instant, orNone, Status } from '../shown/values.tsx';
import { executionList, executionsSize, type Execution } from './queries.ts';

const columns: readonly Column<Execution>[] = [
  {
    name: 'Execution',
    show: ({ workflowId, executionId, startedAt }) => (
      <Link
        to="/workflows/$workflowId/executions/$executionId"
        params={{ workflowId, executionId }}
        search={{}}
      >
        <Instant at={startedAt} />
      </Link>
    ),
  },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'By', show: ({ actor }) => <ActorName actor={actor} /> },
  { name: 'Ended', show: ({ completedAt }) => <Instant at={completedAt} /> },
  { name: 'Fault', show: ({ error }) => <bdi>{orNone(error?.message)}</bdi> },
];

const statuses = [
  ['', 'Any'],
  ['running', 'Running'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
  ['canceled', 'Canceled'],
  ['terminated', 'Terminated'],
  ['timed_out', 'Timed out'],
] as const;

const route = getRouteApi('/workflows/$workflowId');

/** The executions of a workflow, all or those that stand so. */
export function Executions({ workflowId }: { readonly workflowId: string }): ReactNode {
  const { status = '', page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => executionList(workflowId, status, to), page);
  return (
    <>
      <Filters
        label="Which executions"
        fields={[{ name: 'status', label: 'Status', value: status, options: statuses }]}
        onApply={(texts) => void navigate({ search: texts })}
      />
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Executions, the latest first"
        name="executions"
        columns={columns}
        keyOf={({ executionId }) => executionId}
        page={page}
        size={executionsSize}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={<p>{status === '' ? 'It was not executed yet.' : 'None of them stands so.'}</p>}
      />
    </>
  );
}
