import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { ChargePair } from '../corrections/charge-pair.tsx';
import { correctedChargesOf, kindNames } from '../corrections/queries.ts';
import { moneyText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Facts } from '../shown/values.tsx';
import type { Event } from './queries.ts';

type Charge = Event['ratedTransactions'][number];

type Billed = NonNullable<Charge['invoice']>;

const WithItems = ({ of: invoice }: { readonly of: Billed }): ReactNode => (
  <>
    <Link to="/invoices/$invoiceId" params={{ invoiceId: invoice.id }}>
      {invoice.invoiceNo}
    </Link>
    {invoice.items.map(({ id, description }) => (
      <span key={id}>
        {', '}
        <Link
          to="/invoices/$invoiceId/items/$itemId"
          params={{ invoiceId: invoice.id, itemId: id }}
          search={{}}
        >
          <bdi>{description ?? 'Without a description'}</bdi>
        </Link>
      </span>
    ))}
  </>
);

/** The invoice and the items that bill a charge; of one that was corrected since, at what and what waits. */
function invoiceOf({ billed, invoice, billedBefore: before, currency }: Charge): ReactNode {
  if (invoice) return <WithItems of={invoice} />;
  if (billed) return 'its day is billed, and no invoice has it';
  if (!before) return 'not yet';
  return (
    <>
      <WithItems of={before} />, at {moneyText(before.amount, currency)}.{' '}
      {before.difference === '0'
        ? 'It costs the same now.'
        : `The difference of ${moneyText(before.difference, currency)} waits for the next invoice.`}
    </>
  );
}

function SideBySide({ correctionId, eventId }: { readonly correctionId: string; eventId: string }) {
  const query = useQuery(correctedChargesOf(correctionId, eventId));
  return (
    <Loaded query={query}>
      {({ data }) => data.map((charge, index) => <ChargePair key={index} of={charge} />)}
    </Loaded>
  );
}

/** What a correction made of the event: asked for when it is opened. */
function WhatChanged({
  correctionId,
  eventId,
}: {
  readonly correctionId: string;
  eventId: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>What the correction changed, side by side</summary>
      {isOpen ? <SideBySide correctionId={correctionId} eventId={eventId} /> : null}
    </details>
  );
}

/** Where a charge went: the invoice that bills it; and where it came from: what corrected it, and why. */
export function Billing({ of, eventId }: { readonly of: Charge; readonly eventId: string | null }) {
  const { correction } = of;
  return (
    <>
      <Facts
        of={[
          ['Billed', invoiceOf(of)],
          ...(correction === null
            ? []
            : [
                [
                  kindNames[correction.kind] ?? correction.kind,
                  <Link
                    key="correction"
                    to="/usage/corrections/$correctionId"
                    params={{ correctionId: correction.id }}
                    search={{}}
                  >
                    <bdi>{correction.reason}</bdi>
                  </Link>,
                ] as const,
              ]),
        ]}
      />
      {correction === null || eventId === null ? null : (
        <WhatChanged correctionId={correction.id} eventId={eventId} />
      )}
    </>
  );
}
