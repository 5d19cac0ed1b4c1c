import { keepPreviousData, queryOptions, useQuery, type QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { ApiProblem, read } from '../api/problem.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Filters } from '../shown/filters.tsx';
import { Listed } from '../shown/listed.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import { Code, Instant, orNone, Status } from '../shown/values.tsx';
import { instantIn, serviceField, timeField } from './fields.ts';
import { DismissAll, RetryAll } from './all-rejected.tsx';
import {
  eventOf,
  filterOf,
  isOwnId,
  isUuid,
  rejections,
  serviceChoice,
  type EventSearch,
} from './queries.ts';
import { NoneRejected, Reasons } from './reasons.tsx';

type Event = Schemas['UsageEventSummary'];
type EventStatus = Event['status'];

const size = 25;

const eventList = (search: EventSearch) => {
  const { status, page = 0 } = search;
  const query = {
    ...filterOf(search),
    ...(status ? { status: status as EventStatus } : {}),
    limit: digits(size),
    offset: digits(page * size),
  };
  return queryOptions({
    queryKey: ['usage events', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => read(api.GET('/v1/usage-events', { params: { query }, signal })),
  });
};

const retryOne = (id: string) =>
  read(api.POST('/v1/usage-events/{id}/retry', { params: { path: { id } } }));

/** Is told of what came of a row, which may not be in the list any more then. */
type Tell = (event: Event) => void;

/** What came of another try: where none, why as it is now. */
const Told = ({ of }: { readonly of: Event | undefined }): ReactNode => {
  const { status, code, reason, externalTransactionId, id } = of ?? {};
  return (
    <p role="status" className={`kept ${status === 'rejected' ? 'bad' : 'good'}`}>
      {of === undefined ? null : (
        <>
          <bdi>{externalTransactionId ?? id}</bdi> is{' '}
          {status === 'rejected' ? `still rejected for ${code}: ${reason}` : `${status}.`}
        </>
      )}
    </p>
  );
};

/** An event that could not be rated: another try, and the way to where it is mended or dismissed. */
const Again = ({ event, onTold }: { readonly event: Event; readonly onTold: Tell }): ReactNode => {
  const { id } = event;
  return id === null || event.status !== 'rejected' ? null : (
    <div className="acts">
      <Action
        operation="retryUsageEvent"
        name="Try again"
        onDo={() => retryOne(id)}
        onDone={onTold}
      />
      <Link to="/receipts/$eventId" params={{ eventId: id }} search={{}}>
        Mend or dismiss it
      </Link>
    </div>
  );
};

/** What stands in each row alike is left out: the status, or the code, that was chosen. */
const columnsOf = ({ status, code }: EventSearch, onTold: Tell): readonly Column<Event>[] => [
  {
    name: 'Event',
    show: ({ id, externalTransactionId }) =>
      id === null ? (
        orNone(externalTransactionId)
      ) : (
        <Link to="/receipts/$eventId" params={{ eventId: id }} search={{}}>
          <bdi>{externalTransactionId ?? id}</bdi>
        </Link>
      ),
  },
  ...(status === undefined
    ? [{ name: 'Status', show: (event: Event) => <Status name={event.status} /> }]
    : []),
  {
    name: 'Account',
    show: ({ accountId, billingAccountRef }) =>
      accountId === null ? (
        <bdi>{orNone(billingAccountRef)}</bdi>
      ) : (
        <AccountName accountId={accountId} name={billingAccountRef} />
      ),
  },
  { name: 'Happened', show: ({ eventTimestamp }) => <Instant at={eventTimestamp} /> },
  // What the list is ordered by.
  { name: 'Received', show: ({ receivedAt }) => <Instant at={receivedAt} /> },
  ...(code === undefined
    ? [{ name: 'Code', show: (event: Event) => <Code of={event.code} /> }]
    : []),
  {
    name: 'What to mend',
    show: (event) => (
      <>
        {orNone(event.reason)}
        {status === 'rejected' ? null : <Again event={event} onTold={onTold} />}
      </>
    ),
  },
  ...(status === 'rejected'
    ? [{ name: 'How', show: (event: Event) => <Again event={event} onTold={onTold} /> }]
    : []),
];

const statusNames = [
  ['', 'All'],
  ['rated', 'Rated'],
  ['rejected', 'Rejected'],
  ['duplicate', 'Duplicate'],
  ['canceled', 'Canceled'],
  ['pending', 'Pending'],
] as const;

const route = getRouteApi('/usage/events');

/** What the list is filtered by. */
function Choice({ search }: { readonly search: EventSearch }): ReactNode {
  const navigate = route.useNavigate();
  const services = useQuery(serviceChoice);
  const { status = '', code = '', from = '', to = '', accountId = '', serviceId = '' } = search;
  const { externalTransactionId = '' } = search;
  return (
    <Filters
      label="Which events"
      fields={[
        { name: 'status', label: 'Status', value: status, options: statusNames },
        { name: 'code', label: 'Code', value: code, hint: 'ACCOUNT_NOT_FOUND' },
        {
          name: 'externalTransactionId',
          label: 'Event id',
          value: externalTransactionId,
          hint: 'Of the sender, or ours',
        },
        { name: 'accountId', label: 'Account', value: accountId, hint: 'Number or external id' },
        timeField('from', 'From', from),
        timeField('to', 'Until', to),
        serviceField('serviceId', serviceId, services.data),
      ]}
      onApply={({ from: begin, to: end, ...texts }) =>
        void navigate({
          search: {
            ...texts,
            ...(begin ? { from: instantIn(begin) } : {}),
            ...(end ? { to: instantIn(end) } : {}),
          },
        })
      }
    />
  );
}

const ofAll = ({ accountId: _account, page: _page, ...others }: EventSearch): EventSearch => others;

/** Whose events are listed; of an account that was searched by a key, its events know the id. */
function OfAccount({
  search,
  events,
}: {
  readonly search: EventSearch;
  readonly events: readonly Event[];
}): ReactNode {
  const { accountId: given } = search;
  if (given === undefined) return null;
  const accountId = isUuid(given)
    ? given
    : events.find(({ accountId: id }) => id !== null)?.accountId;
  return (
    <p>
      Of {accountId ? <AccountName accountId={accountId} /> : <bdi>{given}</bdi>} alone.{' '}
      <Link to="/usage/events" search={ofAll(search)}>
        Show those of all accounts
      </Link>
    </p>
  );
}

/** Where no event has an id by its sender: the one that we call so. */
function EventOfOurs({ id, onTold }: { readonly id: string; readonly onTold: Tell }): ReactNode {
  const query = useQuery(eventOf(id));
  return query.error instanceof ApiProblem && query.error.status === 404 ? (
    <p>No event has this id, neither of its sender nor of ours.</p>
  ) : (
    <Loaded query={query}>
      {(event) => (
        <DataTable
          caption="The event that has this id here"
          columns={columnsOf({}, onTold)}
          rows={[event]}
          keyOf={() => id}
        />
      )}
    </Loaded>
  );
}

/** Where the list has nothing. */
function NoEvent({ search, onTold }: { search: EventSearch; readonly onTold: Tell }): ReactNode {
  const { status, externalTransactionId } = search;
  if (externalTransactionId !== undefined) {
    return isOwnId(search) ? (
      <EventOfOurs id={externalTransactionId} onTold={onTold} />
    ) : (
      <p>No event of this choice has this id.</p>
    );
  }
  return status === 'rejected' ? (
    <NoneRejected search={search} />
  ) : (
    <p>No event is of this choice.</p>
  );
}

/** Whether it is told of what is shown for which reasons it was rejected: of one event there is nothing to count. */
const isCounted = ({ status, externalTransactionId }: EventSearch): boolean =>
  status === 'rejected' && externalTransactionId === undefined;

/** What it reads first. */
export function ahead(client: QueryClient, search: EventSearch): void {
  void readAhead(client, eventList(search));
  if (isCounted(search)) void readAhead(client, rejections(search));
}

/** Events with what became of them. */
export function EventsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { status = '', page = 0 } = search;
  const { query, onAhead } = useList((to) => eventList({ ...search, page: to }), page);
  const isRejected = status === 'rejected';
  const [told, setTold] = useState<Event>();
  return (
    <Page
      title={isRejected ? 'Rejected events' : 'Usage events'}
      above={
        <Trail>
          {[
            <Link key="usage" to="/usage" search={{}}>
              Usage
            </Link>,
            'Events',
          ]}
        </Trail>
      }
    >
      <Choice search={search} />
      <OfAccount search={search} events={query.data?.data ?? []} />
      {isRejected ? (
        <div className="sides compact">
          <div>{isCounted(search) ? <Reasons search={search} /> : null}</div>
          {query.data ? (
            <div key={JSON.stringify(filterOf(search))}>
              <RetryAll search={search} total={query.data.pagination.total} />
              <DismissAll search={search} total={query.data.pagination.total} />
            </div>
          ) : null}
        </div>
      ) : null}
      <Told of={told} />
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Events, the last received first"
        name="events"
        columns={columnsOf(search, setTold)}
        keyOf={({ id, partition, offset }) => id ?? `${partition} ${offset}`}
        page={page}
        size={size}
        empty={<NoEvent search={search} onTold={setTold} />}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      />
    </Page>
  );
}
