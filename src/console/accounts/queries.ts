import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { writeExact } from '../api/exact-json.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';

/** Rows a page: as many as billing lists give at most. */
export const pageSize = 20;

export const accountList = ({ q, page = 0 }: { q?: string; page?: number }) =>
  queryOptions({
    queryKey: ['accounts', q, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page: digits(page), size: digits(pageSize), ...(q ? { q } : {}) };
      const { data } = await read(
        api.GET('/api/v1/external/accounts', { params: { query }, signal }),
      );
      return data;
    },
  });

export const account = (accountId: string) =>
  queryOptions({
    queryKey: ['account', accountId],
    queryFn: async ({ signal }) => {
      const path = '/api/v1/external/accounts/{accountId}';
      return (await read(api.GET(path, { params: { path: { accountId } }, signal }))).data;
    },
  });

export const contractsOf = (accountId: string, page: number) =>
  queryOptions({
    queryKey: ['contracts', accountId, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { accountId, page: digits(page), size: digits(pageSize) };
      const { data } = await read(
        api.GET('/api/v1/external/contracts', { params: { query }, signal }),
      );
      return data;
    },
  });

export const linesOf = (contractId: string, page: number) =>
  queryOptions({
    queryKey: ['contract lines', contractId, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const path = '/api/v1/external/contracts/{contractId}/services';
      const query = { page: digits(page), size: digits(pageSize) };
      const params = { path: { contractId }, query };
      const answer = await read(api.GET(path, { params, signal }));
      // The other form is that of `view=row`, which was not asked for.
      if ('data' in answer) throw new TypeError('The lines came as rows.');
      return answer;
    },
  });

/** Whose adjustments are listed: its own, and none of what it belongs to. */
export type Adjusted =
  | { readonly accountId: string }
  | { readonly contractId: string }
  | { readonly contractServiceId: string };

export const adjustmentsOf = (of: Adjusted, page: number) =>
  queryOptions({
    queryKey: ['adjustments', of, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { ...of, limit: digits(pageSize), offset: digits(page * pageSize) };
      return read(api.GET('/v1/adjustments', { params: { query }, signal }));
    },
  });

/** The cards that a line has itself, one for each currency. */
export const exceptionCardsOf = ({
  contractId,
  id: contractServiceId,
}: {
  readonly contractId: string;
  readonly id: string;
}) =>
  queryOptions({
    queryKey: ['exception cards', contractServiceId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/api/v1/external/contracts/{contractId}/services/{contractServiceId}/rate-cards', {
          params: { path: { contractId, contractServiceId } },
          signal,
        }),
      ),
  });

export const service = (serviceId: string) =>
  queryOptions({
    queryKey: ['service', serviceId],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const path = '/api/v1/external/services/{serviceId}';
      const answer = await read(api.GET(path, { params: { path: { serviceId } }, signal }));
      if ('data' in answer) throw new TypeError('The service came as a row.');
      return answer;
    },
  });

export const walletsOf = (accountId: string, page: number) =>
  queryOptions({
    queryKey: ['wallets', accountId, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { accountId, page: digits(page), size: digits(pageSize) };
      const { data } = await read(
        api.GET('/api/v1/external/wallets', { params: { query }, signal }),
      );
      return data;
    },
  });

export const wallet = (walletId: string) =>
  queryOptions({
    queryKey: ['wallet', walletId],
    queryFn: async ({ signal }) => {
      const path = '/api/v1/external/wallets/{walletId}';
      const answer = await read(api.GET(path, { params: { path: { walletId } }, signal }));
      if ('data' in answer) throw new TypeError('The wallet came as a row.');
      return answer;
    },
  });

export const paymentsOf = (accountId: string, page: number) =>
  queryOptions({
    queryKey: ['payments', accountId, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { accountId, page: digits(page), size: digits(pageSize) };
      const { data } = await read(
        api.GET('/api/v1/external/payments', { params: { query }, signal }),
      );
      return data;
    },
  });

/** A payment with the invoices that it pays. */
export const paidBy = (paymentId: string) =>
  queryOptions({
    queryKey: ['paid by', paymentId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/payments/{paymentId}/applications', {
          params: { path: { paymentId } },
          signal,
        }),
      ),
  });

export const balanceOf = (accountId: string, currency: string) =>
  queryOptions({
    queryKey: ['balance', accountId, currency],
    ...live('usage'),
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/accounts/{accountId}/balance', {
          params: { path: { accountId }, query: { currency } },
          signal,
        }),
      ),
  });

const usageLive = live('usage');

/** Beyond the instant at which the next hold ends, so that the server has come to it, too. */
const afterMs = 100;

/**
 * When holds are to be read again because one ends by itself. One that is over by this clock and not by the
 * server's is looked for ever less often.
 */
function msToNextEnd(holds: readonly Pick<Schemas['RunningHold'], 'expiresAt'>[]): number {
  const left = holds.map(({ expiresAt }) => Date.parse(expiresAt) - Date.now());
  const next = Math.min(...left);
  return next > 0 ? next + afterMs : Math.max(5 * afterMs, -next / 2);
}

/** What is held of an account at this moment, one by one. */
export const holdsOf = (accountId: string, page: number) =>
  queryOptions({
    queryKey: ['holds', accountId, page],
    placeholderData: keepPreviousData,
    meta: usageLive.meta,
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/accounts/{accountId}/holds', {
          params: {
            path: { accountId },
            query: { limit: digits(pageSize), offset: digits(page * pageSize) },
          },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) =>
      Math.min(usageLive.refetchInterval(), msToNextEnd(data?.data ?? [])),
  });

export const alertsOf = (accountId: string, page: number) =>
  queryOptions({
    queryKey: ['alerts', accountId, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { accountId, limit: digits(pageSize), offset: digits(page * pageSize) };
      return read(api.GET('/v1/alerts', { params: { query }, signal }));
    },
  });

export const grantsOf = (walletId: string, page: number) =>
  queryOptions({
    queryKey: ['grants', walletId, page],
    ...live('usage'),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { limit: digits(pageSize), offset: digits(page * pageSize) };
      const params = { path: { walletId }, query };
      return read(api.GET('/v1/wallets/{walletId}/grants', { params, signal }));
    },
  });

/** Entries that a page of the time line has. */
export const timelineSize = 25;

/** What of a time line is shown; the days are those of UTC. */
export interface TimelineFilter {
  readonly kind?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The kinds that the API knows, and the words for them. */
export const timelineKinds = [
  ['change', 'Changes of it'],
  ['flow', 'Workflows'],
  ['invoice', 'Invoices'],
  ['payment', 'Payments'],
  ['correction', 'Corrections'],
  ['grant', 'Grants'],
  ['alert', 'Alerts'],
] as const;

export const timelineOf = (accountId: string, page: number, { kind, from, to }: TimelineFilter) =>
  queryOptions({
    queryKey: ['timeline', accountId, page, kind, from, to],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/accounts/{accountId}/timeline', {
          params: {
            path: { accountId },
            query: {
              limit: digits(timelineSize),
              offset: digits(page * timelineSize),
              // What an address says that is none of them the API refuses.
              ...(kind ? { kind: kind as (typeof timelineKinds)[number][0] } : {}),
              ...(from ? { from } : {}),
              ...(to ? { to } : {}),
            },
          },
          signal,
        }),
      ),
  });

/** What would be billed now; computing it is dear: where it is only mentioned it is not live. */
export const nextInvoice = (accountId: string, isLive: boolean) =>
  queryOptions({
    queryKey: ['next invoice', accountId, isLive],
    ...(isLive ? live('usage') : {}),
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/accounts/{accountId}/next-invoice', {
          params: { path: { accountId } },
          signal,
        }),
      ),
  });

/** Entries that a page of a wallet's ledger has. */
export const entriesSize = 25;

export const entriesOf = (walletId: string, page: number) =>
  queryOptions({
    queryKey: ['entries', walletId, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/wallets/{walletId}/entries', {
          params: {
            path: { walletId },
            query: { limit: digits(entriesSize), offset: digits(page * entriesSize) },
          },
          signal,
        }),
      ),
  });

/** For how long somebody tries an embed. */
const trySeconds = '900';

export const makeEmbed = (accountId: string) =>
  read(
    api.POST('/v1/embeds', {
      body: { accountId, expiresInSeconds: trySeconds },
      bodySerializer: (body) =>
        writeExact({ ...body, expiresInSeconds: { '#': body.expiresInSeconds } }),
    }),
  );
