import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Page } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { SearchForm } from '../shown/search-form.tsx';
import { Money, orNone, Status } from '../shown/values.tsx';
import { invoiceList, pageSize } from './queries.ts';

type Row = Schemas['InvoiceSummaryRow'];

const columns: readonly Column<Row>[] = [
  {
    name: 'Number',
    show: ({ Id, InvoiceNo }) => (
      <Link to="/invoices/$invoiceId" params={{ invoiceId: Id }}>
        {InvoiceNo}
      </Link>
    ),
  },
  { name: 'Kind', show: ({ InvoiceType__r: type }) => orNone(type?.Name) },
  { name: 'Account', show: ({ AccountName }) => <bdi>{orNone(AccountName)}</bdi> },
  { name: 'Date', show: ({ InvoiceDate }) => InvoiceDate },
  { name: 'Status', show: ({ InvoiceStatus__r: status }) => <Status name={status?.Name} /> },
  { name: 'Due', show: ({ DueStatus }) => <Status name={DueStatus} /> },
  {
    name: 'Total',
    isNumber: true,
    show: ({ Total, Currency__r: of }) => <Money amount={Total} currency={of?.Name ?? null} />,
  },
  {
    name: 'Open',
    isNumber: true,
    show: ({ Balance, Currency__r: of }) => <Money amount={Balance} currency={of?.Name ?? null} />,
  },
];

const route = getRouteApi('/invoices');

export function InvoicesPage(): ReactNode {
  const search = route.useSearch();
  const { q, accountId, billingRunId, page = 0 } = search;
  const navigate = route.useNavigate();
  const query = useQuery(invoiceList(search));
  const find = (text: string): void =>
    void navigate({
      search: {
        ...(text === '' ? {} : { q: text }),
        ...(accountId ? { accountId } : {}),
        ...(billingRunId ? { billingRunId } : {}),
      },
      replace: true,
    });
  return (
    <Page title="Invoices">
      <SearchForm label="Find invoices" hint="Number" value={q ?? ''} onSearch={find} />
      {accountId === undefined && billingRunId === undefined ? null : (
        <p>
          {accountId === undefined ? 'Of one billing run. ' : 'Of one account. '}
          <Link to="/invoices" search={{}}>
            Show those of all
          </Link>
        </p>
      )}
      <Listed
        query={query}
        caption="Invoices"
        name="invoices"
        columns={columns}
        keyOf={({ Id }) => Id}
        page={page}
        size={pageSize}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={
          <>
            <p>
              {q === undefined
                ? 'Nothing is billed yet. A billing run makes invoices:'
                : 'No invoice has this in its number.'}
            </p>
            {q === undefined ? (
              <p>
                <Link to="/billing" search={{}}>
                  Bill a period
                </Link>
              </p>
            ) : null}
          </>
        }
      />
    </Page>
  );
}
