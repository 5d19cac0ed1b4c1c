import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { ChargePair } from '../corrections/charge-pair.tsx';
import { correctedChargesOf, kindNames } from '../corrections/queries.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Facts } from '../shown/values.tsx';
import type { Event } from './queries.ts';

type Charge = Event['ratedTransactions'][number];

/** The invoice and the items that bill a charge. */
const invoiceOf = ({ billed, invoice }: Charge): ReactNode =>
  invoice === null || invoice === undefined ? (
    billed ? (
      'its day is billed, and no invoice has it'
    ) : (
      'not yet'
    )
  ) : (
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
