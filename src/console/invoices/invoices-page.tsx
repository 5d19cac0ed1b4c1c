import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Page } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
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
  const { q, accountId, page = 0 } = search;
  const navigate = route.useNavigate();
  const query = useQuery(invoiceList(search));
  const find = (text: string): void =>
    void navigate({
      search: { ...(text === '' ? {} : { q: text }), ...(accountId ? { accountId } : {}) },
      replace: true,
    });
  return (
    <Page title="Invoices">
      <SearchForm label="Find invoices" hint="Number" value={q ?? ''} onSearch={find} />
      {accountId === undefined ? null : (
        <p>
          Of one account.{' '}
          <Link to="/invoices" search={{}}>
            Show those of all
          </Link>
        </p>
      )}
      <Loaded query={query}>
        {({ content, totalElements }) =>
          content.length === 0 ? (
            <Empty>
              <p>
                {q === undefined
                  ? 'Nothing is billed yet. A billing run makes invoices:'
                  : 'No invoice has this in its number.'}
              </p>
              {q === undefined ? (
                <p>
                  <code>npm run --silent durabill -- billing-run --help</code>
                </p>
              ) : null}
            </Empty>
          ) : (
            <>
              <DataTable
                caption="Invoices"
                columns={columns}
                rows={content}
                keyOf={({ Id }) => Id}
              />
              <Pager
                name="invoices"
                first={page * pageSize}
                shown={content.length}
                total={totalElements}
                onMove={(by) =>
                  void navigate({ search: (before) => ({ ...before, page: page + by }) })
                }
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
