import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { WaitingOf } from '../billing/waiting.tsx';
import { Page, Trail } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Download } from '../shown/download.tsx';
import { moneyText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, orNone, Status } from '../shown/values.tsx';
import { InvoiceNo, itemColumns, rangeText, type Item } from './items.tsx';
import { CreditNotes, Mend } from './credit-and-void.tsx';
import { Parties, Payment, Taxes } from './paper.tsx';
import { WhatChanged } from './what-changed.tsx';
import { invoice, paymentOf, pdfOf, type WholeInvoice } from './queries.ts';

const columns: readonly Column<Item>[] = [
  {
    name: 'Item',
    show: ({ id, invoiceId, description }) => (
      <Link to="/invoices/$invoiceId/items/$itemId" params={{ invoiceId, itemId: id }}>
        <bdi>{description ?? 'Without a description'}</bdi>
      </Link>
    ),
  },
  ...itemColumns,
];

/** What it comes to, and what lies between that and what is open. */
const Sums = ({ of }: { readonly of: WholeInvoice }): ReactNode => (
  <Facts
    of={[
      ['Amount', moneyText(of.amount, of.currency)],
      ['Tax', moneyText(of.taxAmount, of.currency)],
      ['Total', <strong key="total">{moneyText(of.total, of.currency)}</strong>],
      ...(of.creditedAmount === '0'
        ? []
        : [['Credited', moneyText(of.creditedAmount, of.currency)] as const]),
      ...(of.paidAmount === '0' ? [] : [['Paid', moneyText(of.paidAmount, of.currency)] as const]),
      ['Open', moneyText(of.balance, of.currency)],
    ]}
  />
);

/** The execution that made it: a billing run, or a credit of another invoice. */
const MadeBy = ({ of }: { readonly of: WholeInvoice }): ReactNode =>
  of.executionId === null ? null : (
    <p>
      {of.creditedInvoiceId === null ? (
        <Link to="/billing/$billingRunId" params={{ billingRunId: of.executionId }}>
          The billing run that made it
        </Link>
      ) : (
        <Link
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: 'credit-invoice', executionId: of.executionId }}
        >
          The execution that made it
        </Link>
      )}
    </p>
  );

/** Its PDF, which is made when it is asked for, and its story. */
const Kept = ({ of }: { readonly of: WholeInvoice }): ReactNode => (
  <>
    <p>
      <Download path={pdfOf(of.id)} name={of.invoiceFileName ?? `${of.invoiceNo}.pdf`}>
        Download the PDF
      </Download>
      {of.paidAmount === '0' && of.creditedAmount === '0'
        ? null
        : ', which stays as it was made: what was paid or credited since is not on it.'}
    </p>
    <MadeBy of={of} />
    <p>
      <Link to="/audit" search={{ entity: 'invoice', id: of.id }}>
        Who changed it
      </Link>
    </p>
  </>
);

/** Whose it is, how it stands, and its days. */
const WhatItIs = ({ of }: { readonly of: WholeInvoice }): ReactNode => (
  <Facts
    of={[
      [
        'Account',
        <Link key="account" to="/accounts/$accountId" params={{ accountId: of.accountId }}>
          <bdi>{of.accountName ?? 'Account'}</bdi>
        </Link>,
      ],
      ['Status', <Status key="status" name={of.invoiceStatus} />],
      ['Payment', <Status key="payment" name={paymentOf({ ...of, status: of.invoiceStatus })} />],
      ...(of.creditedInvoiceId === null
        ? []
        : [
            [
              'Credits',
              <Link
                key="credits"
                to="/invoices/$invoiceId"
                params={{ invoiceId: of.creditedInvoiceId }}
              >
                <InvoiceNo id={of.creditedInvoiceId} />
              </Link>,
            ] as const,
          ]),
      ['Date', of.invoiceDate],
      ['Due', orNone(of.dueDate)],
      ['Period', orNone(rangeText(of.periodStart, of.periodEnd))],
      ['Contract', orNone(of.paper?.contractNumber)],
      ['Order number', orNone(of.paper?.poNumber)],
    ]}
  />
);

const route = getRouteApi('/invoices/$invoiceId');

/** What the PDF shows, and each line leads to what it is made of. */
export function InvoicePage(): ReactNode {
  const { invoiceId } = route.useParams();
  const query = useQuery(invoice(invoiceId));
  const title = query.data ? `${query.data.invoiceType} ${query.data.invoiceNo}` : 'Invoice';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="invoices" to="/invoices" search={{}}>
              Invoices
            </Link>,
            query.data?.invoiceNo ?? 'Invoice',
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(found) => (
          <>
            <WhatItIs of={found} />
            {found.voidReason === null ? null : <p>Void: {found.voidReason}</p>}
            {found.creditReason === null ? null : <p>Credited: {found.creditReason}</p>}
            {found.paper === undefined ? null : <Parties of={found.paper} />}
            <DataTable
              caption="Items; each leads to what it is made of"
              columns={columns}
              rows={found.items}
              keyOf={({ id }) => id}
            />
            {found.paper === undefined ? null : (
              <Taxes of={found.paper} currency={found.currency} />
            )}
            <Sums of={found} />
            {found.invoiceStatus === 'Posted' && found.invoiceType === 'Invoice' ? (
              <WaitingOf accountId={found.accountId} invoiceId={found.id} />
            ) : null}
            {found.paper === undefined ? null : <Payment of={found.paper} />}
            <Kept of={found} />
            {found.creditedInvoiceId === null ? <WhatChanged invoiceId={found.id} /> : null}
            {found.invoiceType === 'Invoice' ? <CreditNotes of={found} /> : null}
            <Mend of={found} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
