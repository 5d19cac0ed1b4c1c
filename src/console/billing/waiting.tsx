import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { moneyText } from '../shown/format.ts';
import { nextInvoice } from '../accounts/queries.ts';

/** What corrections come to that no draft has. */
export const Waiting = ({ of }: { readonly of: Schemas['NextInvoice']['waiting'] }): ReactNode =>
  of.map(({ correctedInvoiceId, correctedInvoiceNo, currency, amount }) => (
    <p key={`${correctedInvoiceId} ${currency}`}>
      Corrections of{' '}
      <Link to="/invoices/$invoiceId" params={{ invoiceId: correctedInvoiceId }}>
        {correctedInvoiceNo}
      </Link>{' '}
      come to <strong>{moneyText(amount, currency)}</strong> without tax. That waits until something
      else is billed.
    </p>
  ));

/** The same of an account, perhaps of one of its invoices: nothing where nothing waits. */
export function WaitingOf({
  accountId,
  invoiceId,
}: {
  readonly accountId: string;
  readonly invoiceId?: string;
}): ReactNode {
  const { data } = useQuery(nextInvoice(accountId, false));
  return (
    <Waiting
      of={(data?.waiting ?? []).filter(
        ({ correctedInvoiceId }) => invoiceId === undefined || correctedInvoiceId === invoiceId,
      )}
    />
  );
}
