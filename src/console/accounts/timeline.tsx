import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { Instant, Money } from '../shown/values.tsx';
import { timelineOf, timelineSize } from './queries.ts';

type Entry = Schemas['TimelineEntry'];

/** `invoice.posted` in words. */
const wordsOf = (event: string): string => {
  const [of = '', what = ''] = event.split('.');
  return `${of.charAt(0).toUpperCase()}${of.slice(1)} ${what}`;
};

function Happened({ entry }: { readonly entry: Entry }): ReactNode {
  const { at, event, name, amount, currency, changed, actor } = entry;
  return (
    <li>
      <Instant at={at} />
      <p>
        <strong>{wordsOf(event)}</strong> {name === null ? null : <bdi>{name}</bdi>}{' '}
        {amount === null || currency === null ? null : (
          <Money amount={amount} currency={currency} />
        )}
      </p>
      <p className="muted">
        {changed.length === 0 ? null : `${changed.join(', ')}; `}
        {actor === null ? null : `by ${actor}`}
      </p>
    </li>
  );
}

/** What has happened to an account, the latest first. */
export function Timeline({ accountId }: { readonly accountId: string }): ReactNode {
  const [offset, setOffset] = useState(0);
  const query = useQuery(timelineOf(accountId, offset));
  return (
    <Loaded query={query}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          <Empty>
            <p>Nothing has happened to this account yet.</p>
          </Empty>
        ) : (
          <>
            <ol className="timeline">
              {data.map((entry, index) => (
                <Happened key={`${entry.at} ${index}`} entry={entry} />
              ))}
            </ol>
            <Pager
              name="the time line"
              first={offset}
              shown={data.length}
              total={pagination.total}
              onMove={(by) => setOffset(offset + by * timelineSize)}
            />
          </>
        )
      }
    </Loaded>
  );
}
