import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Bars } from '../charts/bars.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { usageByAttribute, usageByDay } from './queries.ts';
import { Loaded, Titled } from './shown.tsx';
import { useSpoken, type Spoken } from './language.tsx';
import { fill } from './texts.ts';

type Total = Schemas['UsageTotal'];

const figures = ({ texts, formats }: Spoken): readonly Column<Total>[] => [
  { name: texts.events, isNumber: true, show: ({ events }) => formats.quantity(events) },
  { name: texts.quantity, isNumber: true, show: ({ quantity }) => formats.quantity(quantity) },
  {
    name: texts.amount,
    isNumber: true,
    show: ({ amount, currency }) => formats.money(amount, currency),
  },
];

const currenciesOf = (rows: readonly Total[]): string[] => [
  ...new Set(rows.map(({ currency }) => currency)),
];

function Days({ currency, rows }: { readonly currency: string; readonly rows: readonly Total[] }) {
  const spoken = useSpoken();
  const { texts, formats } = spoken;
  const dayOf = ({ bucket }: Total): string => formats.day(bucket ?? '');
  return (
    <>
      <Bars
        name={fill(texts.amountsIn, { currency })}
        words={{
          howToMove: (name) => fill(texts.howToMove, { name }),
          fromTo: (first, last) => fill(texts.fromTo, { first, last }),
        }}
        bars={rows.map((row) => ({
          name: dayOf(row),
          parts: [
            {
              name: '',
              tone: 0,
              text: formats.money(row.amount, currency),
              // For drawing alone.
              length: Number(row.amount),
            },
          ],
        }))}
      />
      <DataTable
        caption={fill(texts.totalsIn, { currency })}
        columns={[{ name: texts.day, show: dayOf }, ...figures(spoken)]}
        rows={rows}
        keyOf={({ bucket }) => bucket ?? ''}
      />
    </>
  );
}

/** What was used, by what it is of: whatever has no name of its own comes from pricing logic. */
function Attributes(): ReactNode {
  const spoken = useSpoken();
  const { texts } = spoken;
  const query = useQuery(usageByAttribute);
  const name = ({ group }: Total): ReactNode => <bdi>{group['attribute'] ?? texts.others}</bdi>;
  return (
    <Loaded query={query}>
      {({ data }) =>
        currenciesOf(data).map((currency) => (
          <DataTable
            key={currency}
            caption={fill(texts.byAttribute, { currency })}
            columns={[{ name: texts.attribute, show: name }, ...figures(spoken)]}
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
        {({ data }) =>
          data.length === 0 ? (
            <p className="empty">{texts.noUsage}</p>
          ) : (
            <>
              <Attributes />
              {currenciesOf(data).map((currency) => (
                <Days
                  key={currency}
                  currency={currency}
                  rows={data.filter((row) => row.currency === currency)}
                />
              ))}
            </>
          )
        }
      </Loaded>
    </Titled>
  );
}
