import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { AccountName } from '../shown/names.tsx';
import { Code } from '../shown/values.tsx';
import type { Correction } from './queries.ts';

const accounts: readonly Column<Correction['accounts'][number]>[] = [
  { name: 'Account', show: ({ accountId }) => <AccountName accountId={accountId} /> },
  { name: 'Before', isNumber: true, show: ({ before, currency }) => moneyText(before, currency) },
  { name: 'After', isNumber: true, show: ({ after, currency }) => moneyText(after, currency) },
  {
    name: 'What was billed differs on',
    show: ({ accountId }) => (
      <Link to="/accounts/$accountId/next-invoice" params={{ accountId }}>
        Next invoice
      </Link>
    ),
  },
];

const kept: readonly Column<Correction['rejected'][number]>[] = [
  { name: 'Code', show: ({ code }) => <Code of={code} /> },
  { name: 'Events', isNumber: true, show: ({ events }) => quantityText(events) },
];

/** What accounts pay, and which events keep their charges and why. */
export const Figures = ({
  of,
}: {
  readonly of: Pick<Correction, 'accounts' | 'rejected'>;
}): ReactNode => (
  <>
    {of.accounts.length === 0 ? null : (
      <DataTable
        caption="What accounts pay"
        columns={accounts}
        rows={of.accounts}
        keyOf={({ accountId, currency }) => `${accountId} ${currency}`}
      />
    )}
    {of.rejected.length === 0 ? null : (
      <DataTable
        caption="Events that keep their charges"
        columns={kept}
        rows={of.rejected}
        keyOf={({ code }) => code}
      />
    )}
  </>
);
