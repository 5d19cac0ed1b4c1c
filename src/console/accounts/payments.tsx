import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import type { Column } from '../shown/data-table.tsx';
import { moneyText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { Money, orNone, Status } from '../shown/values.tsx';
import { pageSize, paidBy, paymentsOf } from './queries.ts';
import { usePlace } from './use-place.ts';

type Payment = Schemas['PaymentRow'];

/** The invoices that a payment pays, and how much of each. */
function Paid({ paymentId }: { readonly paymentId: string }): ReactNode {
  const query = useQuery(paidBy(paymentId));
  return (
    <Loaded query={query}>
      {({ invoices, currency }) =>
        invoices.length === 0 ? (
          <p>No invoice yet.</p>
        ) : (
          <ul className="lines">
            {invoices.map(({ invoiceId, invoiceNo, amount }) => (
              <li key={invoiceId}>
                <Link to="/invoices/$invoiceId" params={{ invoiceId }}>
                  {invoiceNo}
                </Link>
                : {moneyText(amount, currency)}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

/** Asked for when it is opened: a list does not ask for each of its rows. */
function WhatItPays({ of }: { readonly of: Payment }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        What it pays<span className="heard">, {of.PaymentReference}</span>
      </summary>
      {isOpen ? <Paid paymentId={of.Id} /> : null}
    </details>
  );
}

const columns: readonly Column<Payment>[] = [
  { name: 'Reference', show: ({ PaymentReference }) => <bdi>{PaymentReference}</bdi> },
  { name: 'Date', show: ({ PaymentDate }) => PaymentDate },
  { name: 'Kind', show: ({ PaymentType__r: of }) => orNone(of?.Name) },
  { name: 'By', show: ({ PaymentMethod__r: of }) => orNone(of?.Name) },
  { name: 'Status', show: ({ PaymentStatus__r: of }) => <Status name={of?.Name} /> },
  { name: 'Invoices', show: (payment) => <WhatItPays of={payment} /> },
  {
    name: 'Amount',
    isNumber: true,
    show: ({ Amount, Currency__r: of }) => <Money amount={Amount} currency={of?.Name ?? null} />,
  },
  {
    name: 'Not applied',
    isNumber: true,
    show: ({ Balance, Currency__r: of }) => <Money amount={Balance} currency={of?.Name ?? null} />,
  },
];

/** What an account has paid, and what was paid to it. */
export function Payments({ accountId }: { readonly accountId: string }): ReactNode {
  const [page, setPage] = usePlace('payments');
  const { query, onAhead } = useList((to) => paymentsOf(accountId, to), page);
  return (
    <>
      <p>
        <Link
          to="/workflows/$workflowId"
          params={{ workflowId: 'payment-save' }}
          search={{ account: accountId }}
        >
          Record a payment
        </Link>
      </p>
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Payments, the latest first"
        name="payments"
        columns={columns}
        keyOf={({ Id }) => Id}
        page={page}
        size={pageSize}
        isOfMany
        onMove={setPage}
        empty={<p>Nothing was paid yet. The API takes payments, too.</p>}
      />
    </>
  );
}
