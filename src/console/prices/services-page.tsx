import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Page, Section } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { SearchForm } from '../shown/search-form.tsx';
import { Instant, orNone, Status } from '../shown/values.tsx';
import { cardsOf, serviceList, size, trialList } from './queries.ts';

type Row = Schemas['ServiceSummaryRow'];
type Trial = Schemas['RepricingSummary'];

/** The way to a service. Whoever is about to go there has its cards, of which the page asks the versions. */
function ServiceLink({ of: { Id, Name } }: { readonly of: Row }): ReactNode {
  const client = useQueryClient();
  const prepare = (): void => void client.prefetchQuery(cardsOf(Id));
  return (
    <Link
      to="/prices/$serviceId"
      params={{ serviceId: Id }}
      search={{}}
      onFocus={prepare}
      onMouseEnter={prepare}
    >
      <bdi>{Name}</bdi>
    </Link>
  );
}

const columns: readonly Column<Row>[] = [
  {
    name: 'Service',
    show: (row) => <ServiceLink of={row} />,
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
  return (
    <Section title="What was tried" id="tried">
      <Listed
        query={useQuery(trialList(tried))}
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

/** What is sold, and the prices that were tried. */
export function ServicesPage(): ReactNode {
  const search = route.useSearch();
  const { q, page = 0 } = search;
  const navigate = route.useNavigate();
  const query = useQuery(serviceList(search));
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
