import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState, type ReactNode } from 'react';
import { accountList } from '../accounts/queries.ts';
import type { Schemas } from '../api/client.ts';
import { writeExact } from '../api/exact-json.ts';
import { moneyText, percentText, quantityText } from '../shown/format.ts';
import { Message } from '../shown/loaded.tsx';
import { pricePreview, type Tried } from './queries.ts';
import { areRates } from './rows.tsx';

/** Nothing is asked for while somebody types or slides. */
const settledMs = 300;

/** A value once it has stayed the same for a moment. */
function useSettled<T>(value: T, key: string): T {
  const [settled, setSettled] = useState({ value, key });
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ value, key }), settledMs);
    return () => clearTimeout(timer);
    // The key says what the value is.
  }, [key]);
  return settled.value;
}

type Preview = Schemas['RepricingPreview'];

const isMore = (difference: string): boolean => !difference.startsWith('-');

const totalText = ({
  currency,
  before,
  after,
  difference,
  change,
}: Preview['totals'][number]): string => {
  const by = moneyText(difference.replace('-', ''), currency);
  const share = change === null ? '' : ` (${percentText(change)})`;
  return (
    `${moneyText(before, currency)} in the books, ${moneyText(after, currency)} with these prices: ` +
    `${by} ${isMore(difference) ? 'more' : 'less'}${share}`
  );
};

/** What came out, in words: they are read out once nothing changes any more. */
const Total = ({ of }: { readonly of: Preview }): ReactNode => (
  <>
    {of.totals.length === 0 ? <p>It has used nothing of it in this time.</p> : null}
    {of.totals.map((total) => (
      <p key={total.currency} className="total">
        {totalText(total)}
      </p>
    ))}
    {of.isWhole ? null : <p>Of its first {quantityText(of.events)} events alone.</p>}
    {of.rejected.map(({ code, events }) => (
      <p key={code}>
        {quantityText(events)} events keep their charges: <code>{code}</code>
      </p>
    ))}
  </>
);

/** What an account would have paid with the prices as they are chosen, computed by the server as they change. */
export function SampleTotal({ of }: { readonly of: Tried }): ReactNode {
  const id = useId();
  const [account, setAccount] = useState('');
  const tried = useSettled({ account, of }, writeExact([account, of]));
  const isTried = tried.account !== '' && areRates(tried.of.rows);
  const found = useQuery({ ...accountList({ q: tried.account }), enabled: tried.account !== '' });
  const preview = useQuery({ ...pricePreview(tried.account, tried.of), enabled: isTried });
  const isNow = tried.account === account && tried.of.rows === of.rows && !preview.isFetching;
  return (
    <>
      <div className="fields">
        <label>
          <span>External id of a sample account in {of.currency}</span>
          <input
            name="accountId"
            value={account}
            maxLength={255}
            list={id}
            onChange={({ target }) => setAccount(target.value)}
          />
        </label>
        <datalist id={id}>
          {found.data?.content.map(({ Id, ExternalId, Name }) =>
            ExternalId === null ? null : (
              <option key={Id} value={ExternalId}>
                {Name}
              </option>
            ),
          )}
        </datalist>
      </div>
      <div role="status" className={isNow ? '' : 'muted'}>
        {!isTried ? null : preview.error && isNow ? (
          <Message of={preview.error} className="bad" />
        ) : preview.data === undefined ? (
          <p>Computing…</p>
        ) : (
          <Total of={preview.data} />
        )}
      </div>
    </>
  );
}
