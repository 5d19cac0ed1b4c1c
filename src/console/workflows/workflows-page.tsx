import { useQuery, type QueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readAhead } from '../api/query-client.ts';
import { Page } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { orNone } from '../shown/values.tsx';
import { workflowList, type Workflow } from './queries.ts';

const columns: readonly Column<Workflow>[] = [
  {
    name: 'Workflow',
    show: ({ id, title }) => (
      <Link to="/workflows/$workflowId" params={{ workflowId: id }}>
        <bdi>{title}</bdi>
      </Link>
    ),
  },
  { name: 'Name', show: ({ name }) => <code>{name}</code> },
  { name: 'Version', show: ({ version }) => (version === null ? 'built in' : String(version)) },
  { name: 'What it does', show: ({ description }) => <bdi>{orNone(description)}</bdi> },
];

/** What it reads first. */
export function ahead(client: QueryClient): void {
  void readAhead(client, workflowList);
}

/** All that can be executed: what the tenant has defined first. */
export function WorkflowsPage(): ReactNode {
  const query = useQuery(workflowList);
  return (
    <Page title="Workflows">
      <p>
        <Link to="/workflows/new">Define a workflow</Link>
      </p>
      <Loaded query={query}>
        {({ data }) => (
          <DataTable
            caption="Workflows"
            isCaptionHeard
            columns={columns}
            rows={data.toSorted((a, b) => Number(a.version === null) - Number(b.version === null))}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
    </Page>
  );
}
