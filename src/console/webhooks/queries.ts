import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';

export type Webhook = Schemas['Webhook'];
export type Delivery = Schemas['WebhookDelivery'];

export const size = 25;
/** Attempts go on by themselves. */
const refetchMs = 5_000;

export interface DeliverySearch {
  readonly status?: string;
  readonly event?: string;
  readonly page?: number;
}

export const webhookList = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) =>
    read(api.GET('/v1/webhooks', { params: { query: { limit: digits(1_000) } }, signal })),
});

export const webhook = (webhookId: string) =>
  queryOptions({
    queryKey: ['webhook', webhookId],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/webhooks/{webhookId}', { params: { path: { webhookId } }, signal })),
  });

export const deliveryList = (webhookId: string, { status, event, page = 0 }: DeliverySearch) => {
  const query = {
    limit: digits(size),
    offset: digits(page * size),
    // What the API does not know it refuses, and says so.
    ...(status ? { status: status as Delivery['status'] } : {}),
    ...(event ? { event } : {}),
  };
  return queryOptions({
    queryKey: ['deliveries', webhookId, query],
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/webhooks/{webhookId}/deliveries', {
          params: { path: { webhookId }, query },
          signal,
        }),
      ),
  });
};

export const redeliver = (webhookId: string, deliveryId: string) =>
  read(
    api.POST('/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', {
      params: { path: { webhookId, deliveryId } },
    }),
  );

const keptMs = 30 * 86_400_000;

/** Sends once more all that was given up: deliveries are kept for 30 days. */
export const recover = (webhookId: string) =>
  read(
    api.POST('/v1/webhooks/{webhookId}/recover', {
      params: { path: { webhookId } },
      body: { since: new Date(Date.now() - keptMs).toISOString() },
    }),
  );

export const sendTest = (webhookId: string) =>
  read(api.POST('/v1/webhooks/{webhookId}/test', { params: { path: { webhookId } } }));

/** Nothing is sent to one that is switched off; what was given up meanwhile is sent by `recover`. */
export const switchOn = (webhookId: string) =>
  read(
    api.PUT('/v1/webhooks/{webhookId}', {
      params: { path: { webhookId } },
      body: { active: true },
    }),
  );
