import type { QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Download } from '../shown/download.tsx';
import { Filters } from '../shown/filters.tsx';
import { Listed } from '../shown/listed.tsx';
import { AccountName } from '../shown/names.tsx';
import { Money, None as NoValue, orNone, Status } from '../shown/values.tsx';
import {
  csvOf,
  invoiceList,
  invoiceStatuses,
  pageSize,
  paymentOf,
  type InvoiceSearch,
} from './queries.ts';

type Row = Schemas['InvoiceSummaryRow'];

/** The billed days; a credit by itself has none. */
const Period = ({ of: { PeriodStart, PeriodEnd } }: { readonly of: Row }): ReactNode =>
  PeriodStart === null || PeriodEnd === null ? (
    <NoValue />
  ) : (
    <>
      <span className="whole">{PeriodStart}</span> to <span className="whole">{PeriodEnd}</span>
    </>
  );

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
  {
    name: 'Account',
    show: ({ AccountId, AccountName: name }) => <AccountName accountId={AccountId} name={name} />,
  },
  { name: 'Dated', show: ({ InvoiceDate }) => <span className="whole">{InvoiceDate}</span> },
  { name: 'Period', show: (row) => <Period of={row} /> },
  { name: 'Status', show: ({ InvoiceStatus__r: status }) => <Status name={status?.Name} /> },
  { name: 'Due', show: ({ DueDate }) => <span className="whole">{orNone(DueDate)}</span> },
  {
    name: 'Payment',
    show: ({
      InvoiceStatus__r: status,
      InvoiceType__r: type,
      PaymentStatus__r: payment,
      CreditedInvoiceId,
      DueStatus,
    }) => (
      <Status
        name={paymentOf({
          status: status?.Name,
          invoiceType: type?.Name,
          creditedInvoiceId: CreditedInvoiceId,
          dueStatus: DueStatus,
          paymentStatus: payment?.Name,
        })}
      />
    ),
  },
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

/** Those of the days and the account that are shown. */
const Csv = ({ of }: { readonly of: InvoiceSearch }): ReactNode => (
  <p>
    <Download path={csvOf(of)} name="invoices.csv">
      {of.fromDate === undefined && of.toDate === undefined
        ? 'All of them as CSV'
        : 'Those dated so as CSV'}
    </Download>
  </p>
);

/** Where there is none: of these filters, or at all. */
const None = ({ isFiltered }: { readonly isFiltered: boolean }): ReactNode =>
  isFiltered ? (
    <p>No invoice is of this choice.</p>
  ) : (
    <>
      <p>Nothing is billed yet. A billing run makes invoices:</p>
      <p>
        <Link to="/billing" search={{}}>
          Bill a period
        </Link>
      </p>
    </>
  );

/** What it reads first. */
export function ahead(client: QueryClient, search: InvoiceSearch): void {
  void readAhead(client, invoiceList(search));
}

export function InvoicesPage(): ReactNode {
  const search = route.useSearch();
  const { fromDate, toDate, accountId, page = 0, ...others } = search;
  const { q, periodFromDate, periodToDate, status, billingRunId } = others;
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => invoiceList({ ...search, page: to }), page);
  // The export knows no other filters.
  const isExported =
    Object.values(others).every((given) => given === undefined) &&
    query.data !== undefined &&
    query.data.totalElements !== '0';
  const isFiltered = [fromDate, toDate, q, periodFromDate, periodToDate, status].some(
    (given) => given !== undefined,
  );
  return (
    <Page title="Invoices">
      <Filters
        label="Which invoices"
        fields={[
          { name: 'q', label: 'Find invoices', value: q ?? '', hint: 'Number' },
          { name: 'fromDate', label: 'Dated from', value: fromDate ?? '', type: 'date' },
          { name: 'toDate', label: 'Dated until', value: toDate ?? '', type: 'date' },
          {
            name: 'periodFromDate',
            label: 'Period from',
            value: periodFromDate ?? '',
            type: 'date',
          },
          { name: 'periodToDate', label: 'Period until', value: periodToDate ?? '', type: 'date' },
          {
            name: 'status',
            label: 'Status',
            value: status ?? '',
            options: [['', 'Any'], ...invoiceStatuses],
          },
        ]}
        onApply={(texts) =>
          void navigate({
            search: {
              ...texts,
              ...(accountId ? { accountId } : {}),
              ...(billingRunId ? { billingRunId } : {}),
            },
          })
        }
      />
      {accountId === undefined && billingRunId === undefined ? null : (
        <p>
          {accountId === undefined ? 'Of one billing run. ' : 'Of one account. '}
          <Link to="/invoices" search={{}}>
            Show those of all
          </Link>
        </p>
      )}
      {isExported ? <Csv of={search} /> : null}
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Invoices, the latest first"
        name="invoices"
        columns={columns}
        keyOf={({ Id }) => Id}
        page={page}
        size={pageSize}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={<None isFiltered={isFiltered} />}
      />
    </Page>
  );
}
