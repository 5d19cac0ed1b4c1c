import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Bars } from '../charts/bars.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { startsOf } from '../usage/zoom.ts';
import { usageByAttribute, usageByDay } from './queries.ts';
import { Loaded, Titled } from './shown.tsx';
import { useSpoken, type Spoken } from './language.tsx';
import { fill } from './texts.ts';

type Total = Schemas['UsageTotal'];

const events = ({ texts, formats }: Spoken): Column<Total> => ({
  name: texts.events,
  isNumber: true,
  show: (row) => formats.quantity(row.events),
});

/** Of one attribute alone: of all of a day it would add what has different units. */
const quantity = ({ texts, formats }: Spoken): Column<Total> => ({
  name: texts.quantity,
  isNumber: true,
  show: (row) => formats.quantity(row.quantity),
});

const amount = ({ texts, formats }: Spoken): Column<Total> => ({
  name: texts.amount,
  isNumber: true,
  show: (row) => formats.money(row.amount, row.currency),
});

const currenciesOf = (rows: readonly Total[]): string[] => [
  ...new Set(rows.map(({ currency }) => currency)),
];

function Days({
  currency,
  rows,
  starts,
}: {
  readonly currency: string;
  readonly rows: readonly Total[];
  /** All days that are shown. */
  readonly starts: readonly string[];
}) {
  const spoken = useSpoken();
  const { texts, formats } = spoken;
  const dayOf = ({ bucket }: Total): string => formats.day(bucket ?? '');
  const amounts = new Map(rows.map(({ bucket, amount }) => [bucket, amount]));
  return (
    <>
      <Bars
        name={fill(texts.amountsIn, { currency })}
        words={{
          howToMove: (name) => fill(texts.howToMove, { name }),
          fromTo: (first, last) => fill(texts.fromTo, { first, last }),
        }}
        bars={starts.map((start) => {
          const used = amounts.get(start) ?? '0';
          const text = formats.money(used, currency);
          // The length is for drawing alone.
          const part = { name: '', tone: 0, text, length: Number(used) };
          return { name: formats.day(start), parts: [part] };
        })}
      />
      <DataTable
        caption={fill(texts.totalsIn, { currency })}
        columns={[{ name: texts.day, show: dayOf }, events(spoken), amount(spoken)]}
        rows={rows}
        keyOf={({ bucket }) => bucket ?? ''}
      />
    </>
  );
}

/** `api_calls` as `api calls`: the names are of whoever sends usage, and have no label here. */
const wordsOf = (attribute: string): string => attribute.replaceAll('_', ' ');

/** What was used, by what it is of: whatever has no name of its own comes from pricing logic. */
function Attributes(): ReactNode {
  const spoken = useSpoken();
  const { texts } = spoken;
  const query = useQuery(usageByAttribute);
  const name = ({ group }: Total): ReactNode => (
    <bdi>{wordsOf(group['attribute'] ?? texts.others)}</bdi>
  );
  return (
    <Loaded query={query}>
      {({ data }) =>
        currenciesOf(data).map((currency) => (
          <DataTable
            key={currency}
            caption={fill(texts.byAttribute, { currency })}
            columns={[
              { name: texts.attribute, show: name },
              events(spoken),
              quantity(spoken),
              amount(spoken),
            ]}
            rows={data.filter((row) => row.currency === currency)}
            keyOf={({ group }) => group['attribute'] ?? ''}
          />
        ))
      }
    </Loaded>
  );
}

/** What the account used in the last 30 days, and what that costs. */
export function UsageView(): ReactNode {
  const { texts } = useSpoken();
  const query = useQuery(usageByDay);
  return (
    <Titled title={texts.usage}>
      <h2>{texts.lastDays}</h2>
      <Loaded query={query}>
        {({ data, range }) => {
          if (data.length === 0) return <p className="empty">{texts.noUsage}</p>;
          const used = data.map(({ bucket }) => bucket ?? '');
          const { starts } = startsOf(range, 'day', { used });
          return (
            <>
              <Attributes />
              {currenciesOf(data).map((currency) => (
                <Days
                  key={currency}
                  currency={currency}
                  rows={data.filter((row) => row.currency === currency)}
                  starts={starts}
                />
              ))}
            </>
          );
        }}
      </Loaded>
    </Titled>
  );
}
