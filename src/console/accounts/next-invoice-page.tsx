import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { itemColumns, type Item } from '../invoices/items.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import { Code, Facts, orNone } from '../shown/values.tsx';
import { nextInvoice } from './queries.ts';
import { Waiting } from '../billing/waiting.tsx';

type Next = Schemas['NextInvoice'];
type Draft = Next['invoices'][number];

const columns: readonly Column<Item>[] = [
  {
    name: 'Item',
    show: ({ description, correctedInvoiceId: invoiceId }) => {
      const what = <bdi>{orNone(description)}</bdi>;
      if (invoiceId === null) return what;
      return (
        <Link to="/invoices/$invoiceId" params={{ invoiceId }}>
          {what}
        </Link>
      );
    },
  },
  ...itemColumns,
];

const problems: readonly Column<Next['problems'][number]>[] = [
  { name: 'What', show: ({ message }) => <bdi>{message}</bdi> },
  { name: 'Code', show: ({ code }) => <Code of={code} /> },
];

const DraftOf = ({ draft }: { readonly draft: Draft }): ReactNode => (
  <Section title={`${draft.invoiceType} in ${draft.currency}`}>
    <DataTable
      caption={`Items of the draft in ${draft.currency}`}
      columns={columns}
      rows={draft.items}
      keyOf={({ id }, index) => `${id} ${index}`}
    />
    <Facts
      of={[
        ['Amount', moneyText(draft.amount, draft.currency)],
        ['Tax', moneyText(draft.taxAmount, draft.currency)],
        ['Total', <strong key="total">{moneyText(draft.total, draft.currency)}</strong>],
      ]}
    />
  </Section>
);

/** What a billing run would bill an account now. */
const Drafts = ({ of }: { readonly of: Next }): ReactNode => (
  <>
    <Facts
      of={[
        ['Account', <AccountName key="account" accountId={of.accountId} />],
        ['Period', `${of.periodStart} to ${of.periodEnd}`],
        ['Dated', of.invoiceDate],
        ['Wait to be rated', of.pending === '0' ? orNone(null) : quantityText(of.pending)],
      ]}
    />
    {of.invoices.length === 0 ? (
      <Empty>
        <p>Nothing is to be billed now.</p>
      </Empty>
    ) : (
      of.invoices.map((draft) => (
        <DraftOf key={`${draft.invoiceType} ${draft.currency}`} draft={draft} />
      ))
    )}
    <Waiting of={of.waiting} />
    {of.rejected.map(({ code, events }) => (
      <p key={code} className="bad">
        <Link to="/usage/events" search={{ status: 'rejected', code, accountId: of.accountId }}>
          {quantityText(events)} rejected: {code}
        </Link>
      </p>
    ))}
    {of.problems.length === 0 ? null : (
      <DataTable
        caption="What would be left out, and why"
        columns={problems}
        rows={of.problems}
        keyOf={({ code }, index) => `${code} ${index}`}
      />
    )}
  </>
);

const route = getRouteApi('/accounts/$accountId/next-invoice');

/** The next invoice as a draft: it changes as usage comes. */
export function NextInvoicePage(): ReactNode {
  const { accountId } = route.useParams();
  const query = useQuery(nextInvoice(accountId, true));
  return (
    <Page
      title="Next invoice"
      above={
        <Trail>
          {[
            <Link key="accounts" to="/accounts" search={{}}>
              Accounts
            </Link>,
            <AccountName key="account" accountId={accountId} />,
            'Next invoice',
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>{(next) => <Drafts of={next} />}</Loaded>
    </Page>
  );
}
