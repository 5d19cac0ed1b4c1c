import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Filters } from '../shown/filters.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { Instant, Money } from '../shown/values.tsx';
import { timelineKinds, timelineOf, timelineSize } from './queries.ts';
import { usePlace, withPlace } from './use-place.ts';

type Entry = Schemas['TimelineEntry'];

/** `invoice.posted` in words. */
const wordsOf = (event: string): string => {
  const [of = '', what = ''] = event.split('.');
  return `${of.charAt(0).toUpperCase()}${of.slice(1)} ${what}`;
};

/** What an entry is about, by the way to it: its page, its place on this one, or its story. */
function About({ entry }: { readonly entry: Entry }): ReactNode {
  const { event, name, recordType, recordId: id } = entry;
  const what = (
    <>
      <strong>{wordsOf(event)}</strong> {name === null ? null : <bdi>{name}</bdi>}
    </>
  );
  if (id === null) return what;
  switch (recordType) {
    case 'invoice':
      return (
        <Link to="/invoices/$invoiceId" params={{ invoiceId: id }}>
          {what}
        </Link>
      );
    case 'correction':
      return (
        <Link to="/usage/corrections/$correctionId" params={{ correctionId: id }} search={{}}>
          {what}
        </Link>
      );
    case 'execution':
      return (
        <Link
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: name ?? '', executionId: id }}
        >
          {what}
        </Link>
      );
    case 'grant':
      return <a href="#wallets">{what}</a>;
    case 'alert':
      return <a href="#alerts">{what}</a>;
    default:
      return (
        <Link to="/audit" search={{ entity: recordType, id }}>
          {what}
        </Link>
      );
  }
}

function Happened({ entry }: { readonly entry: Entry }): ReactNode {
  const { at, amount, currency, changed, actor } = entry;
  return (
    <li>
      <Instant at={at} />
      <p>
        <About entry={entry} />{' '}
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

const route = getRouteApi('/accounts/$accountId');

/** What has happened to an account, the latest first. */
export function Timeline({ accountId }: { readonly accountId: string }): ReactNode {
  const { kind = '', from = '', to = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [page, setPage] = usePlace('timeline');
  const query = useQuery(timelineOf(accountId, page, { kind, from, to }));
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
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}
