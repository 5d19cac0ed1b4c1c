import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { rangeText } from './items.tsx';
import { invoiceSummary } from './queries.ts';

type Explained = Schemas['InvoiceExplanation'];
type Summary = Explained['summary'];
type Previous = NonNullable<Summary['previous']>;
type Change = Previous['changes'][number];
type Event = Summary['largestEvents'][number];

const changeColumns = (currency: string): readonly Column<Change>[] => [
  {
    name: 'Charge',
    show: ({ description }) => <bdi>{description ?? 'Without a description'}</bdi>,
  },
  { name: 'Kind', show: ({ chargeType }) => chargeType },
  { name: 'Volume before', isNumber: true, show: ({ volumeBefore }) => quantityText(volumeBefore) },
  { name: 'Volume', isNumber: true, show: ({ volume }) => quantityText(volume) },
  {
    name: 'Before',
    isNumber: true,
    show: ({ amountBefore }) => moneyText(amountBefore, currency),
  },
  { name: 'Amount', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
  { name: 'Change', isNumber: true, show: ({ change }) => moneyText(change, currency) },
];

const eventColumns = (currency: string, invoice: string): readonly Column<Event>[] => [
  {
    name: 'Event',
    show: ({ usageEventId, externalTranId }) => (
      <Link to="/receipts/$eventId" params={{ eventId: usageEventId }} search={{ invoice }}>
        <bdi>{externalTranId}</bdi>
      </Link>
    ),
  },
  { name: 'Day', show: ({ transactionDate }) => transactionDate },
  { name: 'Volume', isNumber: true, show: ({ volume }) => quantityText(volume) },
  { name: 'Amount', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
];

/** By how much it is higher or lower, in words. */
function changeText({ change, changePercent }: Previous, currency: string): string {
  if (change === '0') return 'the same as';
  const [size, word] = change.startsWith('-') ? [change.slice(1), 'less'] : [change, 'more'];
  const percent =
    changePercent === null ? '' : ` (${quantityText(changePercent.replace('-', ''))} %)`;
  return `${moneyText(size, currency)} ${word}${percent} than`;
}

/** What came before, by how much this one differs, and in which charges. */
function Compared({ of, currency }: { readonly of: Previous; readonly currency: string }) {
  const period = rangeText(of.periodStart, of.periodEnd);
  return (
    <>
      <p>
        Without tax it is {changeText(of, currency)}{' '}
        <Link to="/invoices/$invoiceId" params={{ invoiceId: of.invoiceId }}>
          {of.invoiceNo}
        </Link>
        {period === null ? '' : ` of ${period}`}, which came to {moneyText(of.amount, currency)}.
      </p>
      {of.changes.length === 0 ? null : (
        <DataTable
          caption="Charges that changed, the largest 20 changes at most"
          columns={changeColumns(currency)}
          rows={of.changes}
          keyOf={({ description, chargeType }, index) => `${description} ${chargeType} ${index}`}
        />
      )}
    </>
  );
}

/** Why an invoice is as high as it is: beside the one before, and by its dearest events. */
export function WhatChanged({ invoiceId }: { readonly invoiceId: string }): ReactNode {
  const query = useQuery(invoiceSummary(invoiceId));
  return (
    <Section title="What changed since the invoice before">
      <Loaded query={query}>
        {({ summary: { previous, largestEvents }, currency }) => (
          <>
            {previous === null ? (
              <p>There is none before it of this account, kind and currency.</p>
            ) : (
              <Compared of={previous} currency={currency} />
            )}
            {largestEvents.length === 0 ? null : (
              <DataTable
                caption="Events that cost the most"
                columns={eventColumns(currency, invoiceId)}
                rows={largestEvents}
                keyOf={({ usageEventId }) => usageEventId}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}
