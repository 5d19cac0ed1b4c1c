import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Facts } from '../shown/values.tsx';
import { pathOf } from './opening.ts';
import { invoice, invoiceList, invoiceNo, pdfOf } from './queries.ts';
import { Download, Listed, Loaded, Titled } from './shown.tsx';
import { None, Status, useSpoken, type Spoken } from './language.tsx';
import { fill } from './texts.ts';

type Summary = Schemas['InvoiceSummaryRow'];
type Item = Schemas['InvoiceItem'];
type Whole = Schemas['Invoice'];

function rangeText({ texts, formats }: Spoken, from: string | null, to: string | null): ReactNode {
  if (from === null || to === null) return <None />;
  const [first, last] = [formats.day(from), formats.day(to)];
  return first === last ? first : fill(texts.fromTo, { first, last });
}

const Named = ({ of }: { readonly of: { readonly Name: string } | null }): ReactNode =>
  of === null ? <None /> : <Status name={of.Name} />;

/** How its payment stands; nobody owes what is void, or credits another invoice. */
const isOwed = (status: string | undefined, type: string | undefined): boolean =>
  status !== 'Void' && type !== 'Credit Note';

const listColumns = ({ texts, formats }: Spoken): readonly Column<Summary>[] => {
  const money = (amount: string, of: Summary['Currency__r']): string =>
    of === null ? formats.quantity(amount) : formats.money(amount, of.Name);
  return [
    {
      name: texts.number,
      // What is credited is no bill: its total alone does not tell.
      show: ({ Id: id, InvoiceNo, CreditedInvoiceId }) => (
        <a href={pathOf({ page: 'invoices', id })}>
          {CreditedInvoiceId === null
            ? InvoiceNo
            : fill(texts.creditNoteNumber, { number: InvoiceNo ?? '' })}
        </a>
      ),
    },
    { name: texts.date, show: ({ InvoiceDate }) => formats.day(InvoiceDate) },
    { name: texts.status, show: ({ InvoiceStatus__r: of }) => <Named of={of} /> },
    {
      name: texts.payment,
      show: ({ InvoiceStatus__r: status, InvoiceType__r: type, PaymentStatus__r: of }) => (
        <Named of={isOwed(status?.Name, type?.Name) ? of : null} />
      ),
    },
    { name: texts.total, isNumber: true, show: ({ Total, Currency__r: of }) => money(Total, of) },
    {
      name: texts.open,
      isNumber: true,
      show: ({ Balance, Currency__r: of }) => money(Balance, of),
    },
  ];
};

export function InvoicesView(): ReactNode {
  const spoken = useSpoken();
  const { texts } = spoken;
  const [page, setPage] = useState(0);
  const query = useQuery(invoiceList(page));
  return (
    <Titled title={texts.invoices}>
      <Listed
        query={query}
        caption={texts.invoices}
        columns={listColumns(spoken)}
        keyOf={({ Id }) => Id}
        page={page}
        empty={texts.noInvoices}
        onMove={setPage}
      />
    </Titled>
  );
}

/** An item by its name; of usage it leads to what was used. */
function ItemName({ of }: { readonly of: Item }): ReactNode {
  const { description, chargeType, serviceId, billStartDate: from, billEndDate: to } = of;
  if (description === null) return <None />;
  const name = <bdi>{description}</bdi>;
  if (chargeType !== 'Usage' || serviceId === null || from === null || to === null) return name;
  const usage = { page: 'receipts', id: undefined, of: { serviceId, from, to } } as const;
  return <a href={pathOf(usage)}>{name}</a>;
}

const itemColumns = (spoken: Spoken): readonly Column<Item>[] => {
  const { texts, formats } = spoken;
  return [
    {
      name: texts.item,
      show: (item) => <ItemName of={item} />,
    },
    {
      name: texts.days,
      show: ({ billStartDate, billEndDate }) => rangeText(spoken, billStartDate, billEndDate),
    },
    {
      name: texts.quantity,
      isNumber: true,
      show: ({ volume, unit }) => (
        <bdi>{[formats.quantity(volume), unit].filter(Boolean).join(' ')}</bdi>
      ),
    },
    {
      name: texts.price,
      isNumber: true,
      // None where tiers make the amount, as on the PDF: what they come to on average nobody agreed on.
      show: ({ tiers, ratePerUnit, currency }) =>
        ratePerUnit === null || tiers.length > 0 ? (
          <None />
        ) : (
          formats.money(ratePerUnit.replace('-', ''), currency)
        ),
    },
    { name: texts.tax, isNumber: true, show: ({ tax, currency }) => formats.money(tax, currency) },
    {
      name: texts.amount,
      isNumber: true,
      show: ({ amount, currency }) => formats.money(amount, currency),
    },
  ];
};

/** Which invoice a credit note credits, and why. */
const credited = (texts: Spoken['texts'], of: Whole): (readonly [string, ReactNode])[] => [
  ...(of.creditedInvoiceId === null
    ? []
    : [[texts.credits, <CreditedInvoice key="credits" id={of.creditedInvoiceId} />] as const]),
  ...(of.creditReason === null
    ? []
    : [[texts.reason, <bdi key="reason">{of.creditReason}</bdi>] as const]),
];

function CreditedInvoice({ id }: { readonly id: string }): ReactNode {
  const { texts } = useSpoken();
  const { data } = useQuery(invoiceNo(id));
  return (
    <a href={pathOf({ page: 'invoices', id })}>
      {fill(texts.invoiceNumber, { number: data ?? '' }).trim()}
    </a>
  );
}

/** What the PDF shows. */
export function InvoiceView({ id }: { readonly id: string }): ReactNode {
  const spoken = useSpoken();
  const { texts, formats } = spoken;
  const query = useQuery(invoice(id));
  const { data } = query;
  const form = data?.invoiceType === 'Credit Note' ? texts.creditNoteNumber : texts.invoiceNumber;
  return (
    <Titled title={fill(form, { number: data?.invoiceNo ?? '' }).trim()}>
      <Loaded query={query}>
        {(found) => (
          <>
            <Facts
              of={[
                [texts.status, <Status key="status" name={found.invoiceStatus} />],
                [
                  texts.payment,
                  isOwed(found.invoiceStatus, found.invoiceType) ? (
                    <Status key="payment" name={found.paymentStatus} />
                  ) : (
                    <None key="payment" />
                  ),
                ],
                ...credited(texts, found),
                [texts.date, formats.day(found.invoiceDate)],
                [texts.due, found.dueDate === null ? <None /> : formats.day(found.dueDate)],
                [texts.period, rangeText(spoken, found.periodStart, found.periodEnd)],
              ]}
            />
            <DataTable
              caption={texts.items}
              columns={itemColumns(spoken)}
              rows={found.items}
              keyOf={(item) => item.id}
            />
            <Facts
              of={[
                [texts.amount, formats.money(found.amount, found.currency)],
                [texts.tax, formats.money(found.taxAmount, found.currency)],
                [
                  texts.total,
                  <strong key="total">{formats.money(found.total, found.currency)}</strong>,
                ],
                ...(
                  [
                    [texts.credited, found.creditedAmount],
                    [texts.paid, found.paidAmount],
                  ] as const
                )
                  .filter(([, amount]) => amount !== '0')
                  .map(([name, amount]) => [name, formats.money(amount, found.currency)] as const),
                [texts.open, formats.money(found.balance, found.currency)],
              ]}
            />
            <Download path={pdfOf(id)} name={found.invoiceFileName ?? `${found.invoiceNo}.pdf`}>
              {texts.pdf}
            </Download>
          </>
        )}
      </Loaded>
    </Titled>
  );
}
