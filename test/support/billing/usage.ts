import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { external, type TestTenant } from '../servers/instance.js';

/** A usage event as a producer sends it. */
export interface Message {
  externalTransactionId?: unknown;
  serviceId?: unknown;
  eventTimestamp?: unknown;
  billingAccountRef?: unknown;
  dimensions?: unknown;
  [name: string]: unknown;
}

/** Tiers as [tierMinVal, tierMaxVal or null, tierUnitRate, 'flat'?]. */
export const tiers = (...texts: [number, number | null, number, 'flat'?][]) => ({
  priceMethod: 'TIERED',
  rateCardTiers: texts.map(([tierMinVal, tierMaxVal, tierUnitRate, flat], index) => ({
    tierNum: index + 1,
    tierMinVal,
    tierUnitRate,
    flatRate: flat === 'flat',
    ...(tierMaxVal === null ? {} : { tierMaxVal }),
  })),
});

/** What a tenant needs so that usage can be rated: made over HTTP, as a user makes it. */
export async function createAccount(
  tenant: TestTenant,
  externalId: string,
  more: object = {},
): Promise<string> {
  const { body } = await tenant
    .post(`${external}/accounts`, { name: externalId, externalId, ...more })
    .expect(201);
  return body.id as string;
}

/** A service that prices `api_calls` at 0.01 each, unless `more` says otherwise. */
export async function createService(
  tenant: TestTenant,
  name: string,
  more: object = {},
): Promise<string> {
  const { body } = await tenant
    .post(`${external}/services`, {
      name,
      currency: 'USD',
      priceableAttributes: [{ name: 'api_calls', dimensionDataType: 'Number' }],
      rateCards: [
        {
          currency: 'USD',
          rows: [
            {
              priceDimName: 'api_calls',
              label: 'API calls',
              priceMethod: 'QUANTITY',
              unitRate: 0.01,
            },
          ],
        },
      ],
      ...more,
    })
    .expect(201);
  return body.id as string;
}

/** Graduated and metered by month: 1,000 free, then 0.02 up to 10,000, then 0.01. */
export const meteredService = {
  priceableAttributes: [
    {
      name: 'api_calls',
      dimensionDataType: 'Number',
      isMeterDimension: true,
      meterResetFrequency: 'Monthly',
    },
  ],
  rateCards: [
    {
      currency: 'USD',
      rows: [
        {
          priceDimName: 'api_calls',
          label: 'API calls',
          ...tiers([0, 1000, 0], [1000, 10_000, 0.02], [10_000, null, 0.01]),
        },
      ],
    },
  ],
};

let serial = 0;

/** A valid event of that account and service; each call has an id of its own. */
export function usage(accountRef: string, serviceId: string, more: Message = {}): Message {
  serial += 1;
  return {
    externalTransactionId: `tx-${serial}`,
    serviceId,
    eventTimestamp: '2026-03-15T12:00:00Z',
    billingAccountRef: accountRef,
    dimensions: { api_calls: '100' },
    ...more,
  };
}

/** More events than these are sent in batches: one by one they take a slow machine minutes. */
const oneByOne = 100;
const batchSize = 500;

async function sendBatches(tenant: TestTenant, messages: readonly Message[]): Promise<void> {
  for (let from = 0; from < messages.length; from += batchSize) {
    const batch = messages.slice(from, from + batchSize).map((message) => ({ message }));
    const { body } = await tenant.post('/v1/ingest/usage/batch', batch).expect(200);
    for (const { status } of body as { status?: string }[]) expect(status).to.equal('published');
  }
}

/** Sends events in their order and answers with their external ids. */
export async function send(tenant: TestTenant, ...messages: Message[]): Promise<string[]> {
  if (messages.length > oneByOne) await sendBatches(tenant, messages);
  else
    for (const message of messages) await tenant.post('/v1/ingest/usage', { message }).expect(200);
  return messages.map(({ externalTransactionId }) => String(externalTransactionId));
}

export interface Summary {
  accepted: number;
  rated: number;
  duplicate: number;
  rejected: number;
  pending: number;
}

export async function summary(tenant: TestTenant): Promise<Summary> {
  const { body } = await tenant.get('/v1/usage-events/summary').expect(200);
  const { accepted, rated, duplicate, rejected, pending } = body as Summary;
  return { accepted, rated, duplicate, rejected, pending };
}

/** Waits until so many are accepted and none is pending; who waits too long has found a fault. */
export async function waitUntilRated(tenant: TestTenant, accepted = 0): Promise<Summary> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const now = await summary(tenant);
    if (now.accepted >= accepted && now.pending === 0) return now;
    if (Date.now() > deadline) throw new Error(`Still pending: ${JSON.stringify(now)}`);
    await wait(50);
  }
}

/** Sends one event, waits for it, and answers with what `GET /v1/usage-events/{id}` shows. */
export async function rate(tenant: TestTenant, message: Message) {
  const [externalId = ''] = await send(tenant, message);
  await waitUntilRated(tenant);
  return event(tenant, externalId);
}

export async function event(tenant: TestTenant, key: string) {
  const { body } = await tenant.get(`/v1/usage-events/${encodeURIComponent(key)}`).expect(200);
  return body;
}
