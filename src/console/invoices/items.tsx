import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import type { Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { orNone } from '../shown/values.tsx';
import { invoiceNo } from './queries.ts';

/** What an invoice is called that is known by its id alone. */
export function InvoiceNo({ id }: { readonly id: string }): ReactNode {
  return useQuery(invoiceNo(id)).data ?? 'its invoice';
}

export type Item = Schemas['InvoiceItem'];

export const rangeText = (from: string | null, to: string | null): string | null =>
  from === null || to === null ? null : from === to ? from : `${from} to ${to}`;

/** Tiers that are shown of an item; its page leads to all of them. */
const tiersShown = 5;

/** A price as it was agreed: where less is charged than before, volume and amount say so. */
const priceText = (price: string, currency: string): string =>
  moneyText(price.replace('-', ''), currency);

/** The price of a unit; of tiers each, as the PDF has them: what they come to on average nobody agreed on. */
function Price({ of: { tiers, ratePerUnit, currency } }: { readonly of: Item }): ReactNode {
  if (tiers.length === 0) {
    return orNone(ratePerUnit === null ? null : priceText(ratePerUnit, currency));
  }
  const used = tiers.filter(({ volume, amount }) => volume !== '0' || amount !== '0');
  return (
    <ul className="lines">
      {used.slice(0, tiersShown).map(({ tierNum, volume, ratePerUnit: rate, flatRate, amount }) => (
        <li key={tierNum}>
          {quantityText(volume)} {flatRate ? 'for' : 'at'}{' '}
          {priceText(flatRate ? amount : rate, currency)}
        </li>
      ))}
      {used.length > tiersShown ? (
        <li>and {quantityText(String(used.length - tiersShown))} tiers more</li>
      ) : null}
    </ul>
  );
}

/** What an item says of itself, beside its name. */
export const itemColumns: readonly Column<Item>[] = [
  { name: 'Kind', show: ({ chargeType }) => chargeType },
  {
    name: 'Days',
    show: ({ billStartDate, billEndDate }) => orNone(rangeText(billStartDate, billEndDate)),
  },
  {
    name: 'Volume',
    isNumber: true,
    show: ({ volume, unit }) => [quantityText(volume), unit].filter(Boolean).join(' '),
  },
  {
    name: 'Price',
    isNumber: true,
    show: (item) => <Price of={item} />,
  },
  { name: 'Tax', isNumber: true, show: ({ tax, currency }) => moneyText(tax, currency) },
  { name: 'Amount', isNumber: true, show: ({ amount, currency }) => moneyText(amount, currency) },
];
