import { useQueries, useQuery, type QueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { account, service } from '../accounts/queries.ts';
import { Bars, toneClass, type Bar } from '../charts/bars.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName, ServiceName } from '../shown/names.tsx';
import { None } from '../shown/values.tsx';
import { groupByOf, rangeOf, rowsMax, usageTotals, type UsageSearch } from './queries.ts';
import { bucketOf, timeOf, zoomedTo, type Bucket } from './zoom.ts';

type Total = Schemas['UsageTotal'];

/** An hour with its time, any other bucket by its first day. */
const bucketText = (instant: string | null, bucket: Bucket): string =>
  instant === null
    ? 'All'
    : bucket === 'hour'
      ? `${instant.slice(0, 10)} ${instant.slice(11, 16)}`
      : instant.slice(0, 10);

/** What a row is of, where rows are grouped. */
function Group({ of }: { readonly of: Total['group'] }): ReactNode {
  const [[name, value] = ['', null]] = Object.entries<string | null>(of);
  if (value === null) return <None />;
  if (name === 'account') return <AccountName accountId={value} />;
  if (name === 'service') return <ServiceName serviceId={value} />;
  return <bdi>{value}</bdi>;
}

const columnsOf = (bucket: Bucket, groupBy: string | undefined): readonly Column<Total>[] => [
  { name: 'Begins', show: (row) => bucketText(row.bucket, bucket) },
  ...(groupBy ? [{ name: 'Of', show: ({ group }: Total) => <Group of={group} /> }] : []),
  { name: 'Events', isNumber: true, show: ({ events }) => quantityText(events) },
  { name: 'Quantity', isNumber: true, show: ({ quantity }) => quantityText(quantity) },
  { name: 'Amount', isNumber: true, show: ({ amount, currency }) => moneyText(amount, currency) },
];

/** The name of each group, and its colour. */
type Groups = ReadonlyMap<string, { readonly name: string; readonly tone: number }>;

const valueOf = ({ group }: Total): string => Object.values<string | null>(group)[0] ?? '';

/** Accounts and services have names of their own, whatever else groups is one. */
function useGroups(rows: readonly Total[], groupBy: string | undefined): Groups {
  const values = groupBy ? [...new Set(rows.map(valueOf))] : [];
  const names = useQueries({
    queries: values.map((value) => ({
      queryKey: ['name of group', groupBy, value],
      staleTime: 60_000,
      queryFn: async ({ client }: { readonly client: QueryClient }) =>
        value === ''
          ? 'none'
          : groupBy === 'account'
            ? ((await client.ensureQueryData(account(value))).Name ?? value)
            : groupBy === 'service'
              ? (await client.ensureQueryData(service(value))).name
              : value,
    })),
  });
  return new Map(
    values.map((value, tone) => [value, { name: names[tone]?.data ?? value, tone }] as const),
  );
}

const Legend = ({ groups }: { readonly groups: Groups }): ReactNode => (
  <ul className="legend" aria-label="Colours">
    {[...groups].map(([value, { name, tone }]) => (
      <li key={value}>
        <span className={`dot ${toneClass(tone)}`} aria-hidden="true" /> <bdi>{name}</bdi>
      </li>
    ))}
  </ul>
);

/** The chart and the table of one currency. */
function OfCurrency({
  currency,
  rows,
  search,
}: {
  readonly currency: string;
  readonly rows: readonly Total[];
  readonly search: UsageSearch;
}): ReactNode {
  const navigate = useNavigate();
  const bucket = bucketOf(search);
  const groupBy = groupByOf(search);
  const groups = useGroups(rows, groupBy);
  const bars = barsOf(rows, bucket, groups);
  const starts = [...new Set(rows.map((row) => row.bucket ?? ''))];
  /** From a bar to the events in it. */
  const showEvents = (index: number): void => {
    const start = starts[index];
    if (start === undefined) return;
    void navigate({
      to: '/usage/events',
      search: {
        ...timeOf(start, bucket, rangeOf(search)),
        ...(search.account ? { accountId: search.account } : {}),
        ...(search.service ? { serviceId: search.service } : {}),
      },
    });
  };
  const zoom = (first: number, last: number): void => {
    const ends = [starts[first] ?? '', starts[last] ?? ''] as const;
    const range = zoomedTo(ends, bucket, rangeOf(search));
    void navigate({ to: '/usage', search: { ...search, ...range } });
  };
  return (
    <>
      {bucket === 'none' ? null : (
        <>
          {groups.size === 0 ? null : <Legend groups={groups} />}
          <Bars
            name={`Amounts in ${currency}`}
            bars={bars}
            onChoose={showEvents}
            onZoom={bucket === 'hour' ? undefined : zoom}
          />
        </>
      )}
      <DataTable
        caption={`Totals in ${currency}`}
        columns={columnsOf(bucket, groupBy)}
        rows={rows}
        keyOf={(row, index) => `${row.bucket} ${index}`}
      />
    </>
  );
}

/** The rows of one currency as bars: one for each bucket, its groups above each other. */
function barsOf(rows: readonly Total[], bucket: Bucket, groups: Groups): Bar[] {
  const bars = new Map<string, { name: string; parts: Bar['parts'][number][] }>();
  for (const row of rows) {
    const name = bucketText(row.bucket, bucket);
    const bar = bars.get(name) ?? { name, parts: [] };
    bar.parts.push({
      name: groups.get(valueOf(row))?.name ?? '',
      tone: groups.get(valueOf(row))?.tone ?? 0,
      text: moneyText(row.amount, row.currency),
      length: Number(row.amount),
    });
    bars.set(name, bar);
  }
  return [...bars.values()];
}

/** What was used and what it costs, for each currency. */
export function Totals({ search }: { readonly search: UsageSearch }): ReactNode {
  const query = useQuery(usageTotals(search));
  return (
    <Loaded query={query}>
      {({ data, pagination }) => {
        if (data.length === 0) {
          return (
            <Empty>
              <p>Nothing was rated in this time. Events come in by the API, or from a file:</p>
              <p>
                <code>npm run --silent durabill -- ingest usage.ndjson</code>
              </p>
            </Empty>
          );
        }
        return [...new Set(data.map(({ currency }) => currency))].map((currency) => {
          const rows = data.filter((row) => row.currency === currency);
          return (
            <div key={currency}>
              <OfCurrency currency={currency} rows={rows} search={search} />
              {BigInt(pagination.total) > BigInt(rowsMax) ? (
                <p role="status">
                  The first {quantityText(String(rowsMax))} of {quantityText(pagination.total)}{' '}
                  rows. Choose a shorter time, or longer steps.
                </p>
              ) : null}
            </div>
          );
        });
      }}
    </Loaded>
  );
}
