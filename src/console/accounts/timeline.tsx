import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import { Filters } from '../shown/filters.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { RecordLink } from '../audit/record-link.tsx';
import { ActorName } from '../shown/names.tsx';
import { Instant, Money } from '../shown/values.tsx';
import { sentenceOf, wordsOf } from '../audit/happened.ts';
import { timelineKinds, timelineOf, timelineSize } from './queries.ts';
import { usePlace, withPlace } from './use-place.ts';

type Entry = Schemas['TimelineEntry'];

/** What an entry is about, by the way to it: its page, its place on this one, or its story. */
function About({ entry }: { readonly entry: Entry }): ReactNode {
  const { event, name, recordType: type, recordId: id, workflowId } = entry;
  const [before, after] = sentenceOf(event, name);
  const what = (
    <>
      {before}
      {name === null ? null : (
        <>
          {' '}
          <bdi>{name}</bdi>
        </>
      )}
      {after}
    </>
  );
  if (id === null) return what;
  if (type === 'grant') return <a href="#wallets">{what}</a>;
  if (type === 'alert') return <a href="#alerts">{what}</a>;
  return <RecordLink of={{ type, id, workflowId }}>{what}</RecordLink>;
}

function Happened({ entry }: { readonly entry: Entry }): ReactNode {
  const { at, event, amount, currency, changed, actor } = entry;
  return (
    <li>
      <Instant at={at} />
      <p>
        <About entry={entry} />
        {amount === null || currency === null ? null : (
          <>
            {event === 'alert.triggered' ? ' at' : ':'}{' '}
            <Money amount={amount} currency={currency} />
          </>
        )}
      </p>
      <p className="muted">
        {changed.length === 0 ? null : `Changed: ${changed.map(wordsOf).join(', ')}. `}
        {actor === null ? null : (
          <>
            By <ActorName actor={actor} />.
          </>
        )}
      </p>
    </li>
  );
}

const route = getRouteApi('/accounts/$accountId');

/** What has happened to an account, the latest first. */
export function Timeline({ accountId }: { readonly accountId: string }): ReactNode {
  const { kind = '', from = '', to = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [page, setPage] = usePlace('timeline');
  const { query, onAhead } = useList((at) => timelineOf(accountId, at, { kind, from, to }), page);
  const isFiltered = [kind, from, to].some((text) => text !== '');
  return (
    <>
      <Filters
        label="What of the time line"
        fields={[
          { name: 'kind', label: 'Kind', value: kind, options: [['', 'All'], ...timelineKinds] },
          { name: 'from', label: 'From', value: from, type: 'date' },
          { name: 'to', label: 'Before', value: to, type: 'date' },
        ]}
        onApply={(texts) =>
          void navigate({
            search: ({ pages = '' }) => ({ ...withPlace({ pages }, 'timeline', 0), ...texts }),
            resetScroll: false,
          })
        }
      />
      <Loaded query={query}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty>
              <p>
                {isFiltered
                  ? 'Nothing of this kind has happened to this account in these days.'
                  : 'Nothing has happened to this account yet.'}
              </p>
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
                first={page * timelineSize}
                shown={data.length}
                total={pagination.total}
                isOfMany
                onMove={(by) => setPage(page + by)}
                onAhead={(by) => onAhead(page + by)}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}
