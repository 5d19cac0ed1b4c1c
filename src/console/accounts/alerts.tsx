import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import type { Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { ServiceName } from '../shown/names.tsx';
import { None } from '../shown/values.tsx';
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

/** Where it stands in the running period, once something has moved it. */
function soFar({ counted }: Alert): ReactNode {
  if (counted === null || counted === undefined) return <None />;
  return counted
    .map(({ currency, value }) =>
      currency === null ? quantityText(value) : moneyText(value, currency),
    )
    .join(', ');
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
  { name: 'So far', isNumber: true, show: soFar },
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
