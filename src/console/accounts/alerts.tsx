import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import type { Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { ServiceName } from '../shown/names.tsx';
import { None } from '../shown/values.tsx';
import { sumText } from '../usage/sum-text.ts';
import { alertsOf, pageSize } from './queries.ts';
import { usePlace } from './use-place.ts';

type Alert = Schemas['Alert'];

const ownerOf = ({ accountId, contractId, walletId }: Alert): string =>
  walletId !== null
    ? 'a wallet'
    : contractId !== null
      ? 'a contract'
      : accountId !== null
        ? 'this account'
        : 'each account';

function Counted({ of: { measure, attribute, serviceId } }: { readonly of: Alert }): ReactNode {
  const what = measure === 'quantity' ? 'volume' : measure;
  return (
    <>
      {what}
      {attribute === null ? null : (
        <>
          {' of '}
          <bdi>{attribute}</bdi>
        </>
      )}
      {serviceId === null ? null : (
        <>
          {' of '}
          <ServiceName serviceId={serviceId} />
        </>
      )}
    </>
  );
}

const isPast = (value: string, threshold: string): boolean =>
  !sumText([value, threshold.startsWith('-') ? threshold.slice(1) : `-${threshold}`]).startsWith(
    '-',
  );

/** How far it is to the next threshold: as a length, and in words. */
function Standing({
  value,
  text,
  of: { name, measure, thresholds },
}: {
  readonly value: string;
  readonly text: string;
  readonly of: Alert;
}): ReactNode {
  // What is there falls to its thresholds: no length of it says how far it is.
  if (measure === 'balance') return text;
  const past = thresholds.filter((threshold) => isPast(value, threshold));
  const next = thresholds[past.length];
  const end = next ?? thresholds.at(-1) ?? '0';
  const words = [
    text,
    past.length === 0 ? '' : `past ${past.map(quantityText).join(' · ')}`,
    next === undefined ? '' : `next is ${quantityText(next)}`,
  ];
  const said = words.filter(Boolean).join(', ');
  return (
    <>
      <meter aria-label={name} min={0} max={Number(end)} value={Number(value)} />{' '}
      <span>{said}</span>
    </>
  );
}

/** Where it stands in the running period, once something has moved it. */
function SoFar({ of }: { readonly of: Alert }): ReactNode {
  const { counted } = of;
  if (counted === null || counted === undefined) return <None />;
  return counted.map(({ currency, value }) => (
    <div key={currency}>
      <Standing
        of={of}
        value={value}
        text={currency === null ? quantityText(value) : moneyText(value, currency)}
      />
    </div>
  ));
}

const columns: readonly Column<Alert>[] = [
  { name: 'Alert', show: ({ name }) => <bdi>{name}</bdi> },
  { name: 'Of', show: ownerOf },
  { name: 'Counts', show: (alert) => <Counted of={alert} /> },
  { name: 'Period', show: ({ period }) => period },
  {
    name: 'Triggers',
    show: ({ measure, thresholds }) =>
      `${measure === 'balance' ? 'below' : 'at'} ${thresholds.map(quantityText).join(' and ')}`,
  },
  { name: 'So far', isNumber: true, show: (alert) => <SoFar of={alert} /> },
  {
    name: 'Starts',
    show: ({ workflowId }) =>
      workflowId === null ? (
        <None />
      ) : (
        <Link to="/workflows/$workflowId" params={{ workflowId }} search={{}}>
          a workflow
        </Link>
      ),
  },
];

/** What somebody is told of when money or volumes of an account pass a threshold. */
export function Alerts({ accountId }: { readonly accountId: string }): ReactNode {
  const [page, setPage] = usePlace('alerts');
  const query = useQuery(alertsOf(accountId, page));
  return (
    <Listed
      query={query}
      caption="Alerts"
      name="alerts"
      columns={columns}
      keyOf={({ id }) => id}
      page={page}
      size={pageSize}
      empty={
        <p>
          Nobody is told when this account spends much. <a href="/docs#tag/alerts">The API</a> makes
          alerts.
        </p>
      }
      isOfMany
      onMove={setPage}
    />
  );
}
