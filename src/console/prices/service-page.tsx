import { useQuery, type QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { service } from '../accounts/queries.ts';
import type { Schemas } from '../api/client.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Spans } from '../charts/spans.tsx';
import { Page, Section, Trail } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { None } from '../shown/values.tsx';
import { cardsOf, exactRows, size, versionsOf } from './queries.ts';
import { priceText } from './price-text.ts';
import { Try } from './try-prices.tsx';
import { LogicSteps, TryValues } from './try-values.tsx';

type Version = Schemas['RateCard'];

const columns: readonly Column<Version>[] = [
  { name: 'Version', show: ({ versionNo }) => quantityText(versionNo) },
  { name: 'From', show: ({ fromDate }) => fromDate },
  { name: 'To', show: ({ toDate }) => toDate ?? <None /> },
  { name: 'In force', show: ({ isCurrent }) => (isCurrent ? 'today' : <None />) },
  {
    name: 'Prices',
    show: ({ rows, currency }) => (
      <ul className="lines">
        {rows.map((row) => (
          <li key={row.id}>
            <bdi>{row.label}</bdi>: {priceText(row, currency)}
          </li>
        ))}
      </ul>
    ),
  },
];

const spanOf = ({ versionNo, fromDate, toDate, isCurrent }: Version) => ({
  name: `Version ${quantityText(versionNo)}`,
  from: fromDate,
  to: toDate ?? null,
  ...(isCurrent ? { note: 'in force today' } : {}),
});

const route = getRouteApi('/prices/$serviceId');

/** The versions of a card, and the form to try another. */
function Card({ currency }: { readonly currency: string }): ReactNode {
  const { serviceId } = route.useParams();
  const [page, setPage] = useState(0);
  const { query: versions, onAhead } = useList((to) => versionsOf(serviceId, currency, to), page);
  const rows = useQuery(exactRows(serviceId, currency));
  return (
    <>
      <Section title={`Prices in ${currency}`}>
        <Loaded query={versions}>
          {({ content, totalElements }) => (
            <>
              <Spans
                name={`Versions in ${currency} by time`}
                spans={content.toReversed().map(spanOf)}
                today={new Date().toISOString().slice(0, 10)}
              />
              <DataTable
                caption={`Versions in ${currency}, the newest first`}
                columns={columns}
                rows={content}
                keyOf={({ versionNo }) => versionNo}
              />
              <Pager
                name={`versions in ${currency}`}
                first={page * size}
                shown={content.length}
                total={totalElements}
                isOfMany
                onMove={(by) => setPage(page + by)}
                onAhead={(by) => onAhead(page + by)}
              />
            </>
          )}
        </Loaded>
      </Section>
      <Loaded query={rows}>
        {(found) => <Try serviceId={serviceId} currency={currency} inForce={found} />}
      </Loaded>
    </>
  );
}

/** What it reads first, and the versions of each of its cards once these are known. */
export async function ahead(
  client: QueryClient,
  _search: object,
  { serviceId }: { readonly serviceId: string },
): Promise<void> {
  void readAhead(client, service(serviceId));
  const cards = cardsOf(serviceId);
  await readAhead(client, cards);
  for (const { currency } of client.getQueryData(cards.queryKey)?.content ?? []) {
    void readAhead(client, versionsOf(serviceId, currency, 0));
    void readAhead(client, exactRows(serviceId, currency));
  }
}

/** What a service costs, since when, and what other prices would do. */
export function ServicePage(): ReactNode {
  const { serviceId } = route.useParams();
  const found = useQuery(service(serviceId));
  const cards = useQuery(cardsOf(serviceId));
  const title = found.data?.name ?? 'Service';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="prices" to="/prices" search={{}}>
              Prices
            </Link>,
            <bdi key="service">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={cards}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty>
              <p>It has no rate card: only contract lines with prices of their own use it.</p>
            </Empty>
          ) : (
            content.map(({ currency }) => (
              <Card key={`${serviceId} ${currency}`} currency={currency} />
            ))
          )
        }
      </Loaded>
      {found.data === undefined ? null : (
        <>
          <LogicSteps of={found.data.pricingLogic} />
          <TryValues key={serviceId} of={found.data} />
        </>
      )}
    </Page>
  );
}
