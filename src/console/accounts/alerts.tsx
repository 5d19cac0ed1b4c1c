import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import type { Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { ServiceName } from '../shown/names.tsx';
import { None } from '../shown/values.tsx';
import { sumText } from '../usage/sum-text.ts';
import { alertsOf, pageSize, wallet, walletsOf } from './queries.ts';
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

const differenceOf = (one: string, other: string): string =>
  sumText([one, other.startsWith('-') ? other.slice(1) : `-${other}`]);

const isLess = (one: string, other: string): boolean => differenceOf(one, other).startsWith('-');

interface Stood {
  readonly value: string;
  readonly textOf: (value: string) => string;
  readonly of: Alert;
}

/** How far it is, as a length of all the way, and the same in words. */
const Length = ({
  name,
  value,
  max,
  words,
}: {
  readonly name: string;
  readonly value: string;
  readonly max: string;
  readonly words: readonly string[];
}): ReactNode => (
  <>
    <meter aria-label={name} min={0} max={Number(max)} value={Number(value)} />{' '}
    <span>{words.filter(Boolean).join(', ')}</span>
  </>
);

const pastText = (past: readonly string[], side: string, textOf: Stood['textOf']): string =>
  past.length === 0 ? '' : `${side} ${past.map(textOf).join(' · ')}`;

/** What is counted comes up to its thresholds: the length is full where the next one is reached. */
function Counting({ value, textOf, of: { name, thresholds } }: Stood): ReactNode {
  const past = thresholds.filter((threshold) => !isLess(value, threshold));
  const next = thresholds[past.length];
  const words = [
    textOf(value),
    pastText(past, 'past', textOf),
    next === undefined ? '' : `next is ${textOf(next)}`,
  ];
  return <Length name={name} value={value} max={next ?? thresholds.at(-1) ?? '0'} words={words} />;
}

/**
 * A balance falls to its thresholds: the length is what of it is below the next one, so that it is full
 * where the balance has come down to that.
 */
function Falling({ value, textOf, of: { name, thresholds } }: Stood): ReactNode {
  const past = thresholds.filter((threshold) => isLess(value, threshold));
  const next = thresholds[thresholds.length - past.length - 1];
  const words = [
    textOf(value),
    pastText(past, 'below', textOf),
    next === undefined
      ? ''
      : `${textOf(differenceOf(value, next))} above the next, ${textOf(next)}`,
  ];
  // Of nothing that is left there is no part.
  const isOfSome = next !== undefined && isLess('0', value);
  return (
    <Length name={name} value={isOfSome ? next : '1'} max={isOfSome ? value : '1'} words={words} />
  );
}

const textIn = (currency: string | null) => (text: string) =>
  currency === null ? quantityText(text) : moneyText(text, currency);

/** Where it stands in the running period, once something has moved it. */
function SoFar({ of, unit }: { readonly of: Alert; readonly unit: string | null }): ReactNode {
  const { counted } = of;
  if (counted === null || counted === undefined) return <None />;
  const Standing = of.measure === 'balance' ? Falling : Counting;
  return counted.map(({ currency, value }) => (
    <div key={currency}>
      <Standing of={of} value={value} textOf={textIn(currency ?? unit)} />
    </div>
  ));
}

/** What an alert counts in, by what the wallets of the account are in. */
type UnitOf = (alert: Alert) => string | null;

const columnsWith = (unitOf: UnitOf): readonly Column<Alert>[] => [
  { name: 'Alert', show: ({ name }) => <bdi>{name}</bdi> },
  { name: 'Of', show: ownerOf },
  { name: 'Counts', show: (alert) => <Counted of={alert} /> },
  { name: 'Period', show: ({ period }) => period },
  {
    name: 'Triggers',
    show: (alert) =>
      `${alert.measure === 'balance' ? 'below' : 'at'} ${alert.thresholds.map(textIn(unitOf(alert))).join(' and ')}`,
  },
  { name: 'So far', isNumber: true, show: (alert) => <SoFar of={alert} unit={unitOf(alert)} /> },
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

/** The currencies of the wallets of alerts, by the ids of these: most are on the page of wallets already. */
function useCurrencies(accountId: string, alerts: readonly Alert[]): ReadonlyMap<string, string> {
  const listed = useQuery(walletsOf(accountId, 0)).data?.content;
  const known = new Map(listed?.map(({ Id, Currency__r: of }) => [Id, of?.Name]));
  const others = new Set(
    listed && alerts.flatMap(({ walletId: id }) => (id === null || known.has(id) ? [] : [id])),
  );
  const asked = useQueries({ queries: [...others].map((id) => wallet(id)) });
  return new Map(
    [...known, ...asked.map(({ data }) => [data?.id ?? '', data?.currency] as const)].flatMap(
      ([id, currency]) => (currency ? [[id, currency]] : []),
    ),
  );
}

/** What somebody is told of when money or volumes of an account pass a threshold. */
export function Alerts({ accountId }: { readonly accountId: string }): ReactNode {
  const [page, setPage] = usePlace('alerts');
  const { query, onAhead } = useList((to) => alertsOf(accountId, to), page);
  const currencies = useCurrencies(accountId, query.data?.data ?? []);
  const unitOf: UnitOf = ({ walletId, counted }) =>
    currencies.get(walletId ?? '') ??
    // Money is counted by currency, and a threshold holds in each.
    (counted?.length === 1 ? (counted[0]?.currency ?? null) : null);
  return (
    <Listed
      query={query}
      onAhead={onAhead}
      caption="Alerts"
      name="alerts"
      columns={columnsWith(unitOf)}
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
