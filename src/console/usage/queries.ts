import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';
import { bucketOf } from './zoom.ts';

/** What the address of the page may have. */
export interface UsageSearch {
  readonly from?: string;
  readonly to?: string;
  readonly bucket?: string;
  readonly groupBy?: string;
  /** Grouped by its values instead. */
  readonly dimension?: string;
  readonly account?: string;
  readonly service?: string;
  /** As a chart or a table alone. */
  readonly show?: string;
  readonly page?: number;
}

/** What the address of the list of events may have. */
export interface EventSearch {
  readonly status?: string;
  readonly code?: string;
  /** What its producer calls it, or we do. */
  readonly externalTransactionId?: string;
  readonly from?: string;
  readonly to?: string;
  /** An id, number or external id. */
  readonly accountId?: string;
  readonly serviceId?: string;
  readonly page?: number;
}

type Code = NonNullable<Schemas['UsageEventSummary']['code']>;

/** The filters that the API has; what it does not know it refuses, and says so. */
export const filterOf = ({
  code,
  externalTransactionId,
  from,
  to,
  accountId,
  serviceId,
}: EventSearch) => ({
  ...(code ? { code: code as Code } : {}),
  ...(externalTransactionId ? { externalTransactionId } : {}),
  ...(from ? { from } : {}),
  ...(to ? { to } : {}),
  ...(accountId ? { accountId } : {}),
  ...(serviceId ? { serviceId } : {}),
});

/** Bars of a chart, and rows of its table, at most. */
export const rowsMax = 400;

const dayMs = 86_400_000;
const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

/** The last thirty days, where an address says nothing else. */
export function rangeOf({ from, to }: UsageSearch): { from: string; to: string } {
  return { from: from ?? dayOf(Date.now() - 29 * dayMs), to: to ?? dayOf(Date.now() + dayMs) };
}

/** What rows are grouped by, as the API takes it. */
export const groupByOf = ({ groupBy, dimension }: UsageSearch): string | undefined =>
  dimension ? `dimension:${dimension}` : groupBy;

export const usageTotals = (search: UsageSearch) => {
  const { account, service } = search;
  const groupBy = groupByOf(search);
  const query = {
    ...rangeOf(search),
    bucket: bucketOf(search),
    ...(groupBy ? { groupBy } : {}),
    ...(account ? { account } : {}),
    ...(service ? { service } : {}),
    limit: digits(rowsMax),
  };
  return queryOptions({
    queryKey: ['usage totals', query],
    ...live('usage'),
    placeholderData: keepPreviousData,
    // What was asked stays with its answer, which is shown until the next one is there.
    queryFn: async ({ signal }) => ({
      asked: { ...search, ...rangeOf(search) },
      ...(await read(api.GET('/v1/usage', { params: { query }, signal }))),
    }),
  });
};

export const usageSummary = queryOptions({
  queryKey: ['usage summary'],
  ...live('usage'),
  queryFn: ({ signal }) => read(api.GET('/v1/usage-events/summary', { signal })),
});

/** What is counted by reason; of one event there is nothing to count. */
const countedBy = ({
  code: _code,
  externalTransactionId: _event,
  ...others
}: EventSearch): EventSearch => others;

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => uuidForm.test(text);

/** Whether nothing but an id is searched, which may be ours. */
export const isOwnId = ({ externalTransactionId = '', page: _page, ...others }: EventSearch) =>
  isUuid(externalTransactionId) && Object.values(others).every((text) => !text);

export const eventOf = (id: string) =>
  queryOptions({
    queryKey: ['usage event by id', id],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/usage-events/{id}', { params: { path: { id } }, signal })),
  });

/** Why events of these filters were rejected. */
export const rejections = (search: EventSearch) => {
  const query = filterOf(countedBy(search));
  return queryOptions({
    queryKey: ['usage rejections', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(api.GET('/v1/usage-events/rejections', { params: { query }, signal })),
  });
};

/** Services to choose from: as many as a page of the list has. */
export const serviceChoice = queryOptions({
  queryKey: ['services', 'choice'],
  staleTime: 60_000,
  queryFn: async ({ signal }) =>
    (await read(api.GET('/api/v1/external/services', { signal }))).data.content,
});
