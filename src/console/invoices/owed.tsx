import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { moneyText, quantityText } from '../shown/format.ts';
import { sumText } from '../usage/sum-text.ts';
import { invoiceList } from './queries.ts';

type Row = Schemas['InvoiceSummaryRow'];

const isCredit = ({ InvoiceType__r: of }: Row): boolean => of?.Name === 'Credit Note';

/** What rows come to, in each currency. */
const sumsOf = (rows: readonly Row[]): string =>
  [...Map.groupBy(rows, ({ Currency__r: of }) => of?.Name ?? '')]
    .map(([currency, of]) => moneyText(sumText(of.map(({ Balance }) => Balance)), currency))
    .join(', ');

/**
 * What an account owes on its open invoices, in each currency, and what is owed to it on credit notes; of more
 * than a page how many they are.
 */
export function Owed({ accountId }: { readonly accountId: string }): ReactNode {
  const { data } = useQuery(invoiceList({ accountId, status: 'open' }));
  if (data === undefined) return '…';
  const { content, totalElements: count } = data;
  if (count === '0') return 'Nothing';
  const credits = content.filter(isCredit);
  const invoices = content.filter((row) => !isCredit(row));
  const isWhole = BigInt(count) === BigInt(content.length);
  return (
    <>
      {isWhole && invoices.length > 0 ? `${sumsOf(invoices)} on invoices` : null}
      {isWhole && invoices.length > 0 && credits.length > 0 ? '; ' : null}
      {isWhole && credits.length > 0 ? `${sumsOf(credits)} is owed to it on credit notes` : null}
      {isWhole ? ': ' : null}
      <Link to="/invoices" search={{ accountId, status: 'open' }}>
        {count === '1' ? '1 is open' : `${quantityText(count)} are open`}
      </Link>
    </>
  );
}
