import type { ReactNode } from 'react';
import { Bars } from '../charts/bars.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { percentText, quantityText } from '../shown/format.ts';
import { Facts, None } from '../shown/values.tsx';
import type { Repricing } from './queries.ts';

type Change = NonNullable<Repricing['change']>;
type Bin = Change['bins'][number];

export const percentOrNone = (percent: string | null): ReactNode =>
  percent === null ? <None /> : percentText(percent);

/** `-50` and `-25` as `25 to 50 % less`: the end nearer to 0 comes first. */
function binText({ from, to }: Bin): string {
  if (from === to) return 'no change';
  const isLess = to !== null && !/^[1-9]/.test(to);
  const [near, far] = (isLess ? [to, from] : [from, to]).map((end) => end?.replace('-', ''));
  const words = isLess ? 'less' : 'more';
  return far === undefined ? `over ${near} % ${words}` : `${near} to ${far} % ${words}`;
}

const columns: readonly Column<Bin>[] = [
  { name: 'They would pay', show: binText },
  { name: 'Accounts', isNumber: true, show: ({ accounts }) => quantityText(accounts) },
];

const barOf = (bin: Bin) => ({
  name: binText(bin),
  parts: [
    {
      name: '',
      text: `${quantityText(bin.accounts)} ${bin.accounts === '1' ? 'account' : 'accounts'}`,
      length: Number(bin.accounts),
      tone: 0,
    },
  ],
});

/** How many accounts would pay how much more or less. */
export const Spread = ({ of }: { readonly of: Change }): ReactNode => (
  <>
    <Facts
      of={[
        ['Smallest change of an account', percentOrNone(of.min)],
        ['5th percentile', percentOrNone(of.p5)],
        ['Median', percentOrNone(of.p50)],
        ['95th percentile', percentOrNone(of.p95)],
        ['Largest', percentOrNone(of.max)],
      ]}
    />
    {of.bins.length === 0 ? null : (
      <>
        <Bars name="Accounts by how much more or less they would pay" bars={of.bins.map(barOf)} />
        <DataTable
          caption="Accounts by change"
          columns={columns}
          rows={of.bins.filter(({ accounts }) => accounts !== '0')}
          keyOf={binText}
        />
      </>
    )}
  </>
);
