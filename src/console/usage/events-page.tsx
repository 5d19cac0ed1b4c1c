import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Fragment, useState, type ReactNode } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { Page, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Filters } from '../shown/filters.tsx';
import { Listed } from '../shown/listed.tsx';
import { AccountName } from '../shown/names.tsx';
import { Instant, orNone, Status } from '../shown/values.tsx';
import { serviceField, timeField } from './fields.ts';
import { DismissAll, RetryAll } from './all-rejected.tsx';
import { filterOf, serviceChoice, type EventSearch } from './queries.ts';
import { NoneRejected, Reasons } from './reasons.tsx';

type Event = Schemas['UsageEventSummary'];
type EventStatus = Event['status'];

const size = 50;

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
type Tell = (text: string) => void;

/** An event that could not be rated: what is wrong, another try, and where it is mended or dismissed. */
const Again = ({ event, onTold }: { readonly event: Event; readonly onTold: Tell }): ReactNode => {
  const { id, externalTransactionId, reason } = event;
  return (
    <>
      <span>{orNone(reason)}</span>
      {id === null ? null : (
        <>
          <Action
            operation="retryUsageEvent"
            name="Try again"
            onDo={() => retryOne(id)}
            onDone={({ status }) => onTold(`${externalTransactionId ?? id} is ${status}.`)}
          />
          <Link to="/receipts/$eventId" params={{ eventId: id }} search={{}}>
            Mend or dismiss it
          </Link>
        </>
      )}
    </>
  );
};

const columnsOf = (onTold: Tell): readonly Column<Event>[] => [
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
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'Account', show: ({ billingAccountRef }) => <bdi>{orNone(billingAccountRef)}</bdi> },
  { name: 'Happened', show: ({ eventTimestamp }) => <Instant at={eventTimestamp} /> },
  { name: 'Code', show: ({ code }) => orNone(code) },
  {
    name: 'What to mend',
    show: (event) =>
      event.status === 'rejected' ? <Again event={event} onTold={onTold} /> : orNone(event.reason),
  },
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
  const { status = '', code = '', from = '', to = '', accountId, serviceId = '' } = search;
  return (
    <Filters
      label="Which events"
      fields={[
        { name: 'status', label: 'Status', value: status, options: statusNames },
        { name: 'code', label: 'Code', value: code, hint: 'ACCOUNT_NOT_FOUND' },
        timeField('from', 'From', from),
        timeField('to', 'Until', to),
        serviceField('serviceId', serviceId, services.data),
      ]}
      onApply={(texts) =>
        void navigate({ search: { ...texts, ...(accountId ? { accountId } : {}) } })
      }
    />
  );
}

const ofAll = ({ accountId: _account, page: _page, ...others }: EventSearch): EventSearch => others;

/** Whose events are listed, where they are of one account. */
const OfAccount = ({ search }: { readonly search: EventSearch }): ReactNode =>
  search.accountId === undefined ? null : (
    <p>
      Of <AccountName accountId={search.accountId} /> alone.{' '}
      <Link to="/usage/events" search={ofAll(search)}>
        Show those of all accounts
      </Link>
    </p>
  );

/** Events with what became of them. */
export function EventsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { status = '', page = 0 } = search;
  const query = useQuery(eventList(search));
  const isRejected = status === 'rejected';
  const [told, setTold] = useState('');
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
      <OfAccount search={search} />
      {isRejected ? <Reasons search={search} /> : null}
      {isRejected && query.data ? (
        <Fragment key={JSON.stringify(filterOf(search))}>
          <RetryAll search={search} total={query.data.pagination.total} />
          <DismissAll search={search} total={query.data.pagination.total} />
        </Fragment>
      ) : null}
      <p role="status" className="good">
        {told}
      </p>
      <Listed
        query={query}
        caption="Events, the newest first"
        name="events"
        columns={columnsOf(setTold)}
        keyOf={({ id, partition, offset }) => id ?? `${partition} ${offset}`}
        page={page}
        size={size}
        empty={isRejected ? <NoneRejected search={search} /> : <p>No event is of this choice.</p>}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      />
    </Page>
  );
}
