import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, asJson, keeping, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { digits } from '../api/digits.ts';
import { parseExact, writeExact, type ExactJson } from '../api/exact-json.ts';
import { ApiProblem, read } from '../api/problem.ts';
import { live } from '../live/live.ts';

export type Repricing = Schemas['Repricing'];
export type Service = Schemas['Service'];

export const size = 20;

export const serviceList = ({ q, page = 0 }: { readonly q?: string; readonly page?: number }) =>
  queryOptions({
    queryKey: ['services', q, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page: digits(page), size: digits(size), ...(q ? { q } : {}) };
      const { data } = await read(
        api.GET('/api/v1/external/services', { params: { query }, signal }),
      );
      return data;
    },
  });

/** The cards of a service that are in force, one for each currency. */
export const cardsOf = (serviceId: string) =>
  queryOptions({
    queryKey: ['cards', serviceId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/api/v1/external/services/{serviceId}/rate-cards', {
          params: { path: { serviceId } },
          signal,
        }),
      ),
  });

export const versionsOf = (serviceId: string, currency: string, page: number) =>
  queryOptions({
    queryKey: ['card versions', serviceId, currency, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(
        api.GET('/api/v1/external/services/{serviceId}/rate-cards/{currency}/versions', {
          params: {
            path: { serviceId, currency },
            query: { page: digits(page), size: digits(size) },
          },
          signal,
        }),
      ),
  });

/** The rows of the card in force, whose numbers are changed and sent back as they are written. */
export const exactRows = (serviceId: string, currency: string) =>
  queryOptions({
    queryKey: ['exact card', serviceId, currency],
    queryFn: async ({ signal }): Promise<readonly ExactJson[]> => {
      const text = await read(
        asJson.GET('/api/v1/external/services/{serviceId}/rate-cards/{currency}', {
          params: { path: { serviceId, currency } },
          parseAs: 'text',
          signal,
        }),
      );
      const card = parseExact(text);
      const rows = typeof card === 'object' && card !== null && 'rows' in card ? card.rows : null;
      if (!Array.isArray(rows)) throw new TypeError('The card came without rows.');
      return rows as readonly ExactJson[];
    },
  });

/** Other prices of a service, tried on what was used in a time. */
export interface Tried {
  readonly from: string;
  readonly to: string;
  readonly serviceId: string;
  readonly currency: string;
  readonly rows: readonly ExactJson[];
}

const changesOf = ({ serviceId, currency, rows }: Tried) => [
  { kind: 'rateCard', serviceId, currency, rows },
];

/** What the outcome has to keep, in percent; empty: anything. */
export interface Guard {
  readonly accountChangeMax: string;
  readonly totalDecreaseMax: string;
}

const guardOf = ({ accountChangeMax, totalDecreaseMax }: Guard) => ({
  ...(accountChangeMax === '' ? {} : { accountChangeMax: { '#': accountChangeMax } }),
  ...(totalDecreaseMax === '' ? {} : { totalDecreaseMax: { '#': totalDecreaseMax } }),
});

export const tryPrices = (name: string, tried: Tried, limits: Guard) => {
  const { from, to, serviceId } = tried;
  const serviceIds = [serviceId];
  const guard = guardOf(limits);
  const data = { name, from, to, serviceIds, changes: changesOf(tried), guard };
  return read(
    asJson.POST('/v1/workflows/{workflowId}/execute', {
      params: {
        path: { workflowId: 'reprice' },
        header: { 'Idempotency-Key': newKey() },
      },
      body: { data, async: true },
      bodySerializer: writeExact,
    }),
  );
};

/** The same of one account, while they are being chosen; `accountId` may be its external id. */
export const pricePreview = (accountId: string, tried: Tried) => {
  const { from, to, serviceId } = tried;
  const asked = { accountId, from, to, serviceIds: [serviceId], changes: changesOf(tried) };
  return queryOptions({
    queryKey: ['price preview', writeExact(asked)],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(
        api.POST('/v1/repricings/preview', {
          // Rows are sent with their numbers as they are written.
          body: asked as unknown as Schemas['PreviewBody'],
          bodySerializer: writeExact,
          signal,
        }),
      ),
  });
};

/** The values of an event that is not sent. */
interface Values {
  readonly serviceId: string;
  /** The external id of who would have used it. */
  readonly account: string;
  readonly day: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

export async function computePrice({ serviceId, account, day, dimensions }: Values) {
  const message = {
    externalTransactionId: 'tried-in-the-console',
    serviceId,
    eventTimestamp: `${day}T00:00:00Z`,
    billingAccountRef: account,
    dimensions,
  };
  const answer = await read(api.POST('/v1/usage-events/simulate', { body: { message } }));
  if (Array.isArray(answer)) throw new TypeError('One event came back as several.');
  return answer;
}

export const trialList = (page: number) =>
  queryOptions({
    queryKey: ['repricings', page],
    ...live('executions'),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { limit: digits(size), offset: digits(page * size) };
      return read(api.GET('/v1/repricings', { params: { query }, signal }));
    },
  });

export const trial = (repricingId: string) =>
  queryOptions({
    queryKey: ['repricing', repricingId],
    ...live('executions', repricingId),
    // It is known a moment after its execution began.
    retry: 3,
    queryFn: ({ signal }): Promise<Repricing> =>
      read(api.GET('/v1/repricings/{repricingId}', { params: { path: { repricingId } }, signal })),
  });

export const trialAccounts = (
  repricingId: string,
  sort: 'change:desc' | 'change:asc',
  page: number,
) =>
  queryOptions({
    queryKey: ['repriced accounts', repricingId, sort, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { sort, limit: digits(size), offset: digits(page * size) };
      return read(
        api.GET('/v1/repricings/{repricingId}/accounts', {
          params: { path: { repricingId }, query },
          signal,
        }),
      );
    },
  });

/** Charges of a page, each a block of its own: fewer where their messages are long. */
export const triedSize = 10;

const readCharges = keeping('firstDifference');

/** Those that would change the most come first, unless there are too many to sort. */
export const triedCharges = (repricingId: string, accountId: string, first: number) =>
  queryOptions({
    queryKey: ['tried charges', repricingId, accountId, first],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const readBy = (order: { readonly sort?: 'difference:desc' }) =>
        readCharges((from) =>
          from.GET('/v1/repricings/{repricingId}/accounts/{accountId}/charges', {
            params: {
              path: { repricingId, accountId },
              query: { explain: true, ...order, limit: digits(triedSize), offset: digits(first) },
            },
            signal,
          }),
        );
      try {
        return { isSorted: true, ...(await readBy({ sort: 'difference:desc' })) };
      } catch (error) {
        if (!(error instanceof ApiProblem && error.status === 400)) throw error;
        return { isSorted: false, ...(await readBy({})) };
      }
    },
  });

export const promote = (
  repricingId: string,
  body: { readonly fromDate: string; readonly force: boolean; readonly dryRun: boolean },
) =>
  read(
    api.POST('/v1/repricings/{repricingId}/promote', {
      params: { path: { repricingId } },
      body,
    }),
  );
