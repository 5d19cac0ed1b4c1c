import type { QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Section } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { SearchForm } from '../shown/search-form.tsx';
import { Instant, orNone, Status } from '../shown/values.tsx';
import { serviceList, size, trialList } from './queries.ts';

type Row = Schemas['ServiceSummaryRow'];
type Trial = Schemas['RepricingSummary'];

const columns: readonly Column<Row>[] = [
  {
    name: 'Service',
    show: ({ Id, Name }) => (
      <Link to="/prices/$serviceId" params={{ serviceId: Id }} search={{}}>
        <bdi>{Name}</bdi>
      </Link>
    ),
  },
  { name: 'Code', show: ({ Code }) => orNone(Code) },
];

const trials: readonly Column<Trial>[] = [
  {
    name: 'Tried',
    show: ({ id, name }) => (
      <Link to="/prices/tried/$repricingId" params={{ repricingId: id }} search={{}}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  {
    name: 'On usage of',
    show: ({ from, to }) => `${from.slice(0, 10)} to before ${to.slice(0, 10)}`,
  },
  { name: 'Put in force from', show: ({ promotedFrom }) => orNone(promotedFrom) },
  { name: 'Began', show: ({ createdAt }) => <Instant at={createdAt} /> },
];

const route = getRouteApi('/prices');

function Trials(): ReactNode {
  const { tried = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, onAhead } = useList(trialList, tried);
  return (
    <Section title="What was tried" id="tried">
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Prices that were tried, the newest first"
        name="prices that were tried"
        columns={trials}
        keyOf={({ id }) => id}
        page={tried}
        size={size}
        isOfMany
        // Below another list: it stays where it is looked at.
        onMove={(to) =>
          void navigate({ search: (before) => ({ ...before, tried: to }), resetScroll: false })
        }
        empty={<p>Nothing was tried yet: a service has the form for it.</p>}
      />
    </Section>
  );
}

/** What it reads first. */
export function ahead(
  client: QueryClient,
  search: Parameters<typeof serviceList>[0] & { tried?: number },
): void {
  void readAhead(client, serviceList(search));
  void readAhead(client, trialList(search.tried ?? 0));
}

/** What is sold, and the prices that were tried. */
export function ServicesPage(): ReactNode {
  const search = route.useSearch();
  const { q, page = 0 } = search;
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => serviceList({ ...search, page: to }), page);
  return (
    <Page title="Prices">
      <SearchForm
        label="Find services"
        hint="Name or code"
        value={q ?? ''}
        onSearch={(text) =>
          void navigate({ search: text === '' ? {} : { q: text }, replace: true })
        }
      />
      <p>
        <Link to="/workflows/$workflowId" params={{ workflowId: 'service-create' }} search={{}}>
          Create a service
        </Link>
      </p>
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Services"
        name="services"
        columns={columns}
        keyOf={({ Id }) => Id}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={
          <p>
            {q === undefined ? (
              <>
                Nothing is sold yet. <a href="/docs#tag/services">The API</a> makes a service with
                its prices.
              </>
            ) : (
              'No service has this in its name or code.'
            )}
          </p>
        }
      />
      <Trials />
    </Page>
  );
}
