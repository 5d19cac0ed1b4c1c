import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import type { Column } from '../shown/data-table.tsx';
import { Facts } from '../shown/values.tsx';
import { Charge } from './explanation.tsx';
import { pathOf, type UsageOf } from './opening.ts';
import { eventList, receipt } from './queries.ts';
import { Listed, Loaded, Titled } from './shown.tsx';
import { None, Status, useSpoken, type Spoken } from './language.tsx';
import { fill } from './texts.ts';

type Summary = Schemas['UsageEventSummary'];
type Event = Schemas['UsageEvent'];

const listColumns = ({ texts, formats }: Spoken): readonly Column<Summary>[] => [
  {
    name: texts.event,
    show: ({ id, externalTransactionId }) =>
      id === null ? (
        <None />
      ) : (
        <a href={pathOf({ page: 'receipts', id })}>
          <bdi>{externalTransactionId ?? id}</bdi>
        </a>
      ),
  },
  {
    name: texts.time,
    show: ({ eventTimestamp: at }) => (at === null ? <None /> : formats.instant(at)),
  },
  { name: texts.status, show: ({ status }) => <Status name={status} /> },
];

/** What was used: all of it, or that of a service in some days. */
export function ReceiptsView({ of }: { readonly of: UsageOf | undefined }): ReactNode {
  const spoken = useSpoken();
  const { texts, formats } = spoken;
  const [page, setPage] = useState(0);
  const query = useQuery(eventList(page, of));
  return (
    <Titled title={texts.receipts}>
      {of ? (
        <p>{fill(texts.fromTo, { first: formats.day(of.from), last: formats.day(of.to) })}</p>
      ) : null}
      <Listed
        query={query}
        caption={texts.receiptList}
        columns={listColumns(spoken)}
        keyOf={({ id, partition, offset }) => id ?? `${partition} ${offset}`}
        page={page}
        empty={of ? texts.noUsage : texts.noReceipts}
        onMove={setPage}
      />
    </Titled>
  );
}

function Charges({ of: { ratedTransactions } }: { readonly of: Event }): ReactNode {
  const { texts, formats } = useSpoken();
  if (ratedTransactions.length === 0) return <p className="empty">{texts.noCharge}</p>;
  return ratedTransactions.map(({ id, amount, currency, usageType, explanation, matches }) => {
    const form = usageType === 'Payout' ? texts.payoutOf : texts.chargeOf;
    const title = fill(form, { amount: formats.money(amount, currency) });
    return (
      <section key={id} aria-label={title}>
        <h2>{title}</h2>
        {explanation === null ? (
          // Where it matches there is one, of which others have a part.
          <p className="muted">{matches ? texts.withheld : texts.notKept}</p>
        ) : (
          <Charge explanation={explanation} />
        )}
      </section>
    );
  });
}

/** Why an event costs what it costs. */
export function ReceiptView({ id }: { readonly id: string }): ReactNode {
  const { texts, formats } = useSpoken();
  const query = useQuery(receipt(id));
  const { data } = query;
  const name = data?.externalTransactionId ?? '';
  return (
    <Titled title={name === '' ? texts.receipts : fill(texts.receiptOf, { name })}>
      <Loaded query={query}>
        {(event) => (
          <>
            <Facts
              of={[
                [texts.status, <Status key="status" name={event.status} />],
                [
                  texts.time,
                  event.eventTimestamp === null ? (
                    <None key="time" />
                  ) : (
                    formats.instant(event.eventTimestamp)
                  ),
                ],
              ]}
            />
            <Charges of={event} />
          </>
        )}
      </Loaded>
    </Titled>
  );
}
