import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText } from '../shown/format.ts';
import { Code, Facts, orNone } from '../shown/values.tsx';

type Credit = Schemas['CreditPreview'];
type Voided = Schemas['VoidPreview'];
type Payment = Credit['payments'][number];
type Rebilled = Voided['rebilled'][number];
type Problem = Voided['problems'][number];

const rebilled: readonly Column<Rebilled>[] = [
  { name: 'Kind', show: ({ invoiceType }) => invoiceType },
  { name: 'Amount', isNumber: true, show: ({ amount, currency }) => moneyText(amount, currency) },
  {
    name: 'Tax',
    isNumber: true,
    show: ({ taxAmount, currency }) => moneyText(taxAmount, currency),
  },
  { name: 'Total', isNumber: true, show: ({ total, currency }) => moneyText(total, currency) },
];

const problems: readonly Column<Problem>[] = [
  { name: 'Why', show: ({ message }) => <bdi>{message}</bdi> },
  { name: 'Code', show: ({ code }) => <Code of={code} /> },
];

/** Payments that get something back. */
function Payments({ of, currency }: { readonly of: readonly Payment[]; currency: string }) {
  const columns: readonly Column<Payment>[] = [
    { name: 'Payment', show: ({ paymentReference }) => <bdi>{orNone(paymentReference)}</bdi> },
    { name: 'Gets back', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
    {
      name: 'Not applied then',
      isNumber: true,
      show: ({ unapplied }) => moneyText(unapplied, currency),
    },
  ];
  return of.length === 0 ? null : (
    <DataTable
      caption="Payments that get something back"
      columns={columns}
      rows={of}
      keyOf={({ paymentId }) => paymentId}
    />
  );
}

const openOf = ({ balanceBefore, balanceAfter, currency }: Credit | Voided) =>
  [
    ['Open now', moneyText(balanceBefore, currency)],
    ['Open then', moneyText(balanceAfter, currency)],
  ] as const;

/** What a credit note would come to. */
export const CreditPreview = ({ of }: { readonly of: Credit }): ReactNode => (
  <>
    <Facts
      of={[
        ['Credited', moneyText(of.amount, of.currency)],
        ['Its tax', moneyText(of.taxAmount, of.currency)],
        ['In all', <strong key="total">{moneyText(of.total, of.currency)}</strong>],
        ...openOf(of),
      ]}
    />
    <Payments of={of.payments} currency={of.currency} />
  </>
);

/** What voiding would do; of what credits an invoice nothing is billed instead. */
export const VoidPreview = ({
  of,
  accountId,
}: {
  readonly of: Voided;
  readonly accountId: string;
}): ReactNode => (
  <>
    <Facts of={[['Void', moneyText(of.total, of.currency)], ...openOf(of)]} />
    <Payments of={of.payments} currency={of.currency} />
    {of.wallets.length === 0 ? null : (
      <ul aria-label="Wallets that get something back">
        {of.wallets.map(({ walletId, amount }) => (
          <li key={walletId}>
            <Link to="/accounts/$accountId" params={{ accountId }}>
              A wallet
            </Link>{' '}
            gets back {moneyText(amount, of.currency)}.
          </li>
        ))}
      </ul>
    )}
    {of.rebilled.length === 0 ? (
      <p>Nothing of its account and period would be billed then.</p>
    ) : (
      <DataTable
        caption="What would be billed of its account and period then"
        columns={rebilled}
        rows={of.rebilled}
        keyOf={({ invoiceType, currency }) => `${invoiceType} ${currency}`}
      />
    )}
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
