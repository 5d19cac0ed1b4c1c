import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { quantityText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Instant, Status } from '../shown/values.tsx';
import { About } from '../webhooks/about.tsx';
import { deliveriesOf, type Execution } from './queries.ts';

const columns: readonly Column<Schemas['WebhookDelivery']>[] = [
  {
    name: 'Event',
    show: ({ event, webhookId }) => (
      <Link to="/webhooks/$webhookId" params={{ webhookId }} search={{ event }}>
        <code>{event}</code>
      </Link>
    ),
  },
  { name: 'About', show: (delivery) => <About of={delivery} /> },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'Happened', show: ({ createdAt }) => <Instant at={createdAt} /> },
  { name: 'Attempts', isNumber: true, show: ({ attempts }) => String(attempts.length) },
  { name: 'Ended', show: ({ endedAt }) => <Instant at={endedAt} /> },
];

/** The webhooks that were told of what an execution did, and of its end. */
export function Deliveries({ of }: { readonly of: Execution }): ReactNode {
  const query = useQuery(deliveriesOf(of.workflowId, of.executionId));
  return (
    <Section title="Webhooks that followed">
      <Loaded query={query}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <p>No webhook was told of it in the last 30 days.</p>
          ) : (
            <>
              <DataTable
                caption="Deliveries, the latest first"
                columns={columns}
                rows={data}
                keyOf={({ id }) => id}
              />
              {pagination.total === String(data.length) ? null : (
                <p>
                  The latest {String(data.length)} of {quantityText(pagination.total)}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}
