import type { QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Trail } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { quantityText, sumsText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { ActorName } from '../shown/names.tsx';
import { Instant, orNone } from '../shown/values.tsx';
import { correctionList, kindNames, size } from './queries.ts';

type Row = Schemas['UsageCorrectionSummary'];

const columns: readonly Column<Row>[] = [
  {
    name: 'Why',
    show: ({ id, reason }) => (
      <Link to="/usage/corrections/$correctionId" params={{ correctionId: id }} search={{}}>
        <bdi>{reason}</bdi>
      </Link>
    ),
  },
  { name: 'Kind', show: ({ kind }) => kindNames[kind] },
  { name: 'Events', isNumber: true, show: ({ changed }) => quantityText(changed) },
  { name: 'Before', isNumber: true, show: ({ before }) => orNone(sumsText(before)) },
  { name: 'After', isNumber: true, show: ({ after }) => orNone(sumsText(after)) },
  { name: 'By', show: ({ actor }) => <ActorName actor={actor} /> },
  { name: 'At', show: ({ createdAt }) => <Instant at={createdAt} /> },
];

const route = getRouteApi('/usage/corrections');

/** What it reads first. */
export function ahead(client: QueryClient, search: Parameters<typeof correctionList>[0]): void {
  void readAhead(client, correctionList(search));
}

/** What was rated, and had to be rated otherwise. */
export function CorrectionsPage(): ReactNode {
  const search = route.useSearch();
  const { eventId, page = 0 } = search;
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => correctionList({ ...search, page: to }), page);
  return (
    <Page
      title="Corrections"
      above={
        <Trail>
          {[
            <Link key="usage" to="/usage" search={{}}>
              Usage
            </Link>,
            'Corrections',
          ]}
        </Trail>
      }
    >
      {eventId === undefined ? null : (
        <p>
          Of one event.{' '}
          <Link to="/usage/corrections" search={{}}>
            Show those of all
          </Link>
        </p>
      )}
      <p>
        <Link to="/usage/rate-again" search={{}}>
          Rate again
        </Link>
        , where a price, a contract or a formula was wrong.
      </p>
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Corrections, the newest first"
        name="corrections"
        columns={columns}
        keyOf={({ id }) => id}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={
          <>
            <p>Nothing was corrected. An event is amended or canceled from its receipt.</p>
          </>
        }
      />
    </Page>
  );
}
