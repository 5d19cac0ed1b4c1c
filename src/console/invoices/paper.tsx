import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Facts } from '../shown/values.tsx';

type Paper = Schemas['InvoicePaper'];
type Tax = Paper['taxes'][number];

const Party = ({ title, of }: { readonly title: string; readonly of: Paper['seller'] }) => (
  <section className="card" aria-label={title}>
    <h2>{title}</h2>
    <address>
      <bdi>{of.name}</bdi>
      {of.lines.map((line) => (
        <bdi key={line}>{line}</bdi>
      ))}
    </address>
  </section>
);

/** Who sends it and who is to pay it, as a letter has them. */
export const Parties = ({ of }: { readonly of: Paper }): ReactNode => (
  <div className="sides">
    <Party title="From" of={of.seller} />
    <Party title="To" of={of.buyer} />
  </div>
);

/** The taxes by their rates, where there are any. */
export function Taxes({ of, currency }: { readonly of: Paper; readonly currency: string }) {
  const columns: readonly Column<Tax>[] = [
    { name: 'Tax', show: ({ rate }) => `${quantityText(rate)} %` },
    { name: 'Of', isNumber: true, show: ({ base }) => moneyText(base, currency) },
    { name: 'Amount', isNumber: true, show: ({ tax }) => moneyText(tax, currency) },
  ];
  if (of.taxes.length === 0) return null;
  return (
    <DataTable caption="Tax by rate" columns={columns} rows={of.taxes} keyOf={({ rate }) => rate} />
  );
}

/** How it is to be paid, where anything is and the seller says it. */
export function Payment({ of: { payment } }: { readonly of: Paper }): ReactNode {
  if (payment === null) return null;
  const { text, iban, bic } = payment;
  const facts = [
    ['IBAN', iban],
    ['BIC', bic],
  ].filter((fact): fact is [string, string] => fact[1] !== null);
  return (
    <Section title="How to pay">
      {text === null ? null : <p className="written">{text}</p>}
      {facts.length === 0 ? null : <Facts of={facts} />}
    </Section>
  );
}
