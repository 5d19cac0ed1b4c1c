import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Bars, toneClass } from '../charts/bars.tsx';
import { moneyText } from '../shown/format.ts';

type Paying = Schemas['RepricedAccount'];

/** Two bars of each account: what it pays and what it would pay. */
const barsOf = (rows: readonly Paying[]) => {
  const names = rows.map(({ name, accountId }) => name ?? accountId);
  const isOne = (name: string): boolean => names.indexOf(name) === names.lastIndexOf(name);
  return rows.flatMap(({ accountId, currency, before, after }, index) => {
    const name = names[index] ?? accountId;
    const who = isOne(name) ? name : `${name} (${accountId})`;
    const bar = (verb: string, amount: string, tone: number) => ({
      name: `${who} ${verb}`,
      parts: [{ name: '', text: moneyText(amount, currency), length: Number(amount), tone }],
    });
    return [bar('pays', before, 0), bar('would pay', after, 1)];
  });
};

/** Its bars are accounts: they go from none to none. */
const words = {
  howToMove: (name: string): string => `${name}: arrow keys go from bar to bar`,
  fromTo: (_first: string, _last: string, highest: string): string =>
    `Most: ${highest}. Arrow keys or the pointer show a bar.`,
};

/** What accounts pay and would pay, side by side; lengths compare amounts of one currency alone. */
export const PaidBars = ({ rows }: { readonly rows: readonly Paying[] }): ReactNode => (
  <>
    <ul className="legend">
      {['pays', 'would pay'].map((verb, tone) => (
        <li key={verb}>
          <span className={`dot ${toneClass(tone)}`} aria-hidden="true" /> {verb}
        </li>
      ))}
    </ul>
    {[...new Set(rows.map(({ currency }) => currency))].map((currency) => (
      <Bars
        key={currency}
        name={`What they pay and would pay, in ${currency}`}
        words={words}
        bars={barsOf(rows.filter((row) => row.currency === currency))}
      />
    ))}
  </>
);
