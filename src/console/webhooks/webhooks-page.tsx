import { useQuery, type QueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readAhead } from '../api/query-client.ts';
import { Page } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Instant, Status } from '../shown/values.tsx';
import { webhookList, type Webhook } from './queries.ts';

/** How a webhook stands, in a word. */
export const stateOf = ({ active, failingSince }: Webhook): string =>
  active ? (failingSince === null ? 'active' : 'failing') : 'switched off';

const columns: readonly Column<Webhook>[] = [
  {
    name: 'Address',
    show: ({ id, url }) => (
      <Link to="/webhooks/$webhookId" params={{ webhookId: id }} search={{}}>
        <bdi>{url}</bdi>
      </Link>
    ),
  },
  { name: 'Status', show: (webhook) => <Status name={stateOf(webhook)} /> },
  { name: 'Failing since', show: ({ failingSince }) => <Instant at={failingSince} /> },
  { name: 'Events', show: ({ events }) => events.join(', ') },
];

/** What it reads first. */
export function ahead(client: QueryClient): void {
  void readAhead(client, webhookList);
}

/** Where events are sent, and whether they arrive. */
export function WebhooksPage(): ReactNode {
  const query = useQuery(webhookList);
  return (
    <Page title="Webhooks">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              <p>
                Nothing is told to anybody yet. <a href="/docs#tag/webhooks">The API</a> registers
                an address and the events that it wants.
              </p>
            </Empty>
          ) : (
            <DataTable
              caption="Webhooks"
              isCaptionHeard
              columns={columns}
              rows={data}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
