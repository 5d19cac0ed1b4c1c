import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Bars } from '../charts/bars.tsx';
import { ShownAs, wayOf, type Way } from '../charts/shown-as.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, placesOf, quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName, ServiceName } from '../shown/names.tsx';
import { None } from '../shown/values.tsx';
import { barOf, Legend, useGroups } from './groups.tsx';
import { groupByOf, rangeOf, rowsMax, usageTotals, type UsageSearch } from './queries.ts';
import { sumText } from './sum-text.ts';
import { bucketOf, cutsOf, startsOf, timeOf, zoomedTo, type Bucket, type Range } from './zoom.ts';

type Total = Schemas['UsageTotal'];

/**
 * A minute or an hour with its time, any other bucket by its first day; of which only a part is shown, from
 * when on or before when.
 */
function bucketText(instant: string | null, bucket: Bucket, shown: Range): string {
  if (instant === null) return 'All';
  const text =
    bucket === 'hour' || bucket === 'minute'
      ? `${instant.slice(0, 10)} ${instant.slice(11, 16)}`
      : instant.slice(0, 10);
  return [text, ...cutsOf(instant, bucket, shown)].join(', ');
}

/** What a row is of, where rows are grouped. */
function Group({ of }: { readonly of: Total['group'] }): ReactNode {
  const [[name, value] = ['', null]] = Object.entries<string | null>(of);
  if (value === null) return <None />;
  if (name === 'account') return <AccountName accountId={value} />;
  if (name === 'service') return <ServiceName serviceId={value} />;
  return <bdi>{value}</bdi>;
}

/** Of what is grouped otherwise, a quantity would add what has different units. */
const hasQuantity = (groupBy: string | undefined): boolean => groupBy === 'attribute';

const columnsOf = (
  bucket: Bucket,
  groupBy: string | undefined,
  places: number,
  shown: Range,
): readonly Column<Total>[] => [
  { name: 'Begins', show: (row) => bucketText(row.bucket, bucket, shown) },
  ...(groupBy ? [{ name: 'Of', show: ({ group }: Total) => <Group of={group} /> }] : []),
  { name: 'Events', isNumber: true, show: ({ events }) => quantityText(events) },
  ...(hasQuantity(groupBy)
    ? [
        {
          name: 'Quantity',
          isNumber: true,
          show: ({ quantity }: Total) => quantityText(quantity),
        },
      ]
    : []),
  {
    name: 'Amount',
    isNumber: true,
    show: ({ amount, currency }) => moneyText(amount, currency, places),
  },
];

/** Rows that are shown at first: the name of each account or service among them is asked for. */
const rowsAtFirst = 50;

/** The totals as a table; of many the first, and all of them by a press. */
function Table({
  caption,
  columns,
  rows,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Total>[];
  readonly rows: readonly Total[];
}): ReactNode {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, rowsAtFirst);
  return (
    <>
      <DataTable
        caption={caption}
        columns={columns}
        rows={shown}
        // By their places: of other times the same rows say something else.
        keyOf={(_row, index) => String(index)}
      />
      {shown.length < rows.length ? (
        <p>
          <button type="button" onClick={() => setIsWhole(true)}>
            Show all {quantityText(String(rows.length))} rows
          </button>
        </p>
      ) : null}
    </>
  );
}

/** What all rows come to. An event that is in several groups counts in each: of groups they are not added. */
function InAll({
  rows,
  isGrouped,
}: {
  readonly rows: readonly Total[];
  readonly isGrouped: boolean;
}): ReactNode {
  const amount = sumText(rows.map((row) => row.amount));
  const events = sumText(rows.map((row) => row.events));
  return (
    <p>
      In all <strong>{moneyText(amount, rows[0]?.currency ?? '')}</strong>
      {isGrouped ? null : ` for ${quantityText(events)} ${events === '1' ? 'event' : 'events'}`}.
    </p>
  );
}

/** As `startsOf` writes it. */
const startOfRow = ({ bucket }: Pick<Total, 'bucket'>): string => bucket ?? '';

/** The chart and the table of one currency. */
function OfCurrency({
  currency,
  rows,
  isAll,
  starts,
  asked,
  search,
}: {
  readonly currency: string;
  readonly rows: readonly Total[];
  /** Whether there are no others. */
  readonly isAll: boolean;
  /** When each bar begins; none where there is no chart: of what has no time, or of one that is not whole. */
  readonly starts: readonly string[];
  /** What the rows answer: that of before, while others are read. */
  readonly asked: UsageSearch;
  readonly search: UsageSearch;
}): ReactNode {
  const navigate = useNavigate();
  const bucket = bucketOf(asked);
  const groupBy = groupByOf(asked);
  const shown = rangeOf(asked);
  const way = starts.length === 0 ? 'table' : wayOf(search.show);
  const groups = useGroups(rows, groupBy);
  const byStart = Map.groupBy(rows, startOfRow);
  const bars = starts.map((start) =>
    barOf(bucketText(start, bucket, shown), byStart.get(start) ?? [], groups),
  );
  /** From a bar to the events in it. */
  const showEvents = (index: number): void => {
    const start = starts[index];
    if (start === undefined) return;
    void navigate({
      to: '/usage/events',
      search: {
        ...timeOf(start, bucket, shown),
        ...(asked.account ? { accountId: asked.account } : {}),
        ...(asked.service ? { serviceId: asked.service } : {}),
      },
    });
  };
  const zoom = (first: number, last: number): void => {
    const ends = [starts[first] ?? '', starts[last] ?? ''] as const;
    const range = zoomedTo(ends, bucket, shown);
    void navigate({ to: '/usage', search: { ...search, ...range } });
  };
  return (
    <>
      {isAll ? <InAll rows={rows} isGrouped={groupBy !== undefined} /> : null}
      {way === 'table' ? null : (
        <>
          {groups.own.size === 0 ? null : <Legend groups={groups} />}
          <Bars
            name={`Amounts in ${currency}`}
            bars={bars}
            onChoose={showEvents}
            onZoom={bucket === 'minute' ? undefined : zoom}
          />
        </>
      )}
      {way === 'chart' ? null : (
        <Table
          caption={`Totals in ${currency}`}
          columns={columnsOf(bucket, groupBy, placesOf(rows.map(({ amount }) => amount)), shown)}
          rows={rows}
        />
      )}
    </>
  );
}

/** Where rows are grouped by the name of a dimension that none of their events has. */
function Absent({
  dimension,
  rows,
}: {
  readonly dimension: string | undefined;
  readonly rows: readonly Total[];
}): ReactNode {
  const key = `dimension:${dimension ?? ''}`;
  // Rows of the page before have no such group at all.
  if (!dimension || rows.some(({ group }) => group[key] !== null)) return null;
  return (
    <p role="status">
      None of these events has a dimension “<bdi>{dimension}</bdi>”. Its name is written as events
      have it, with the same capitals.
    </p>
  );
}

const withoutWay = ({ show: _show, ...others }: UsageSearch): UsageSearch => others;

/** What was used and what it costs, for each currency. */
export function Totals({ search }: { readonly search: UsageSearch }): ReactNode {
  const query = useQuery(usageTotals(search));
  const navigate = useNavigate();
  const showAs = (way: Way): void => {
    const shown = way === 'both' ? {} : { show: way };
    void navigate({ to: '/usage', search: { ...withoutWay(search), ...shown } });
  };
  return (
    <Loaded query={query}>
      {({ data, pagination, asked }) => {
        if (data.length === 0) {
          return (
            <Empty>
              <p>
                Nothing was rated in this time. Events come in by{' '}
                <a href="/docs#tag/usage-ingestion">the API</a>, or from a file:
              </p>
              <p>
                <code>npm run --silent durabill -- ingest usage.ndjson</code>
              </p>
            </Empty>
          );
        }
        const isAll = BigInt(pagination.total) <= BigInt(rowsMax);
        // Of the last bar some rows may be missing.
        const cut = isAll ? undefined : startOfRow(data[data.length - 1] ?? { bucket: null });
        const used = data.map(startOfRow).filter((start) => start !== cut);
        const bars = startsOf(rangeOf(asked), bucketOf(asked), { used, hasMore: !isAll });
        const isDrawn = bucketOf(asked) !== 'none' && used.length > 0;
        const rows = isDrawn ? data.filter((row) => startOfRow(row) !== cut) : data;
        const currencies = [...new Set(rows.map(({ currency }) => currency))];
        return (
          <>
            <Absent dimension={asked.dimension} rows={data} />
            {cut === undefined ? null : (
              <p role="status">
                The first {quantityText(String(rows.length))} of {quantityText(pagination.total)}{' '}
                rows
                {isDrawn ? `, before ${bucketText(cut, bucketOf(asked), rangeOf(asked))}` : ''}.
                Choose a shorter time, or longer steps.
              </p>
            )}
            {isDrawn ? <ShownAs way={wayOf(search.show)} onChange={showAs} /> : null}
            {isDrawn && bars.hasGaps && wayOf(search.show) !== 'table' ? (
              <p>
                The chart leaves out when nothing was used: so long a time has too many steps.
                Choose a shorter time, or longer steps.
              </p>
            ) : null}
            {currencies.map((currency) => (
              <OfCurrency
                key={currency}
                currency={currency}
                rows={rows.filter((row) => row.currency === currency)}
                isAll={isAll}
                starts={isDrawn ? bars.starts : []}
                asked={asked}
                search={search}
              />
            ))}
          </>
        );
      }}
    </Loaded>
  );
}
