import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { moneyText, quantityText } from '../shown/format.ts';
import { sumText } from '../usage/sum-text.ts';
import { invoiceList } from './queries.ts';

/** What an account owes on its open invoices, in each currency; of more than a page how many they are. */
export function Owed({ accountId }: { readonly accountId: string }): ReactNode {
  const { data } = useQuery(invoiceList({ accountId, status: 'open' }));
  if (data === undefined) return '…';
  const { content, totalElements: count } = data;
  if (count === '0') return 'Nothing';
  const byCurrency = Map.groupBy(content, ({ Currency__r: of }) => of?.Name ?? '');
  const sums = [...byCurrency].map(([currency, rows]) =>
    moneyText(sumText(rows.map(({ Balance }) => Balance)), currency),
  );
  return (
    <>
      {BigInt(count) > BigInt(content.length) ? null : `${sums.join(', ')} on `}
      <Link to="/invoices" search={{ accountId, status: 'open' }}>
        {count === '1' ? '1 open invoice' : `${quantityText(count)} open invoices`}
      </Link>
    </>
  );
}
