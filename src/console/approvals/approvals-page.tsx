import type { QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Filters } from '../shown/filters.tsx';
import { Listed } from '../shown/listed.tsx';
import { Instant, Status } from '../shown/values.tsx';
import { approvalList, size, type Approval } from './queries.ts';

const columns: readonly Column<Approval>[] = [
  {
    name: 'What',
    show: ({ id, title }) => (
      <Link to="/approvals/$approvalId" params={{ approvalId: id }}>
        <bdi>{title}</bdi>
      </Link>
    ),
  },
  { name: 'Kind', show: ({ kind }) => kind },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'Roles', show: ({ roles }) => roles.join(' or ') },
  { name: 'Since', show: ({ createdAt }) => <Instant at={createdAt} /> },
  { name: 'Until', show: ({ execution }) => <Instant at={execution?.dueAt ?? null} /> },
];

const statusNames = [
  ['pending', 'Waiting'],
  ['approved', 'Approved'],
  ['rejected', 'Rejected'],
  ['expired', 'Expired'],
  ['canceled', 'Canceled'],
  ['any', 'Any'],
] as const;

const kindNames = [
  ['', 'Any'],
  ['account', 'Account'],
  ['contract', 'Contract'],
  ['service', 'Service'],
  ['workflow', 'Step of a workflow'],
] as const;

const route = getRouteApi('/approvals');

/** What it reads first. */
export function ahead(client: QueryClient, search: Parameters<typeof approvalList>[0]): void {
  void readAhead(client, approvalList(search));
}

/** What waits for a yes or a no. */
export function ApprovalsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { status = 'pending', kind = '', page = 0 } = search;
  const { query, onAhead } = useList((to) => approvalList({ ...search, page: to }), page);
  return (
    <Page title="Approvals">
      <Filters
        label="Which approvals"
        fields={[
          { name: 'status', label: 'Status', value: status, options: statusNames },
          { name: 'kind', label: 'Kind', value: kind, options: kindNames },
        ]}
        onApply={(texts) => void navigate({ search: texts })}
      />
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Approvals, the newest first"
        name="approvals"
        columns={columns}
        keyOf={({ id }) => id}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={
          status === 'pending' ? (
            <p>
              Nothing waits for you. Accounts, contracts and services that were never approved wait
              here, and steps of workflows that ask somebody.
            </p>
          ) : (
            <p>There is none of these.</p>
          )
        }
      />
    </Page>
  );
}
