import pg from 'pg';
import type { Bench } from './rows.js';

/** A client of the product that throws unless the answer is 2xx. */
export interface BenchClient {
  readonly url: string;
  readonly token: string;
  send<T = { id: string }>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
  ): Promise<T>;
}

export function benchClient(url: string, token: string): BenchClient {
  return {
    url,
    token,
    async send<T>(method: string, path: string, body?: unknown) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok)
        throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    },
  };
}

/** A tenant of a measurement of its own. */
export async function openTenant(
  { databaseUrl, product, client }: Bench,
  tenantId: string,
): Promise<BenchClient> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query('insert into tenant (id, name) values ($1, $1) on conflict do nothing', [
    tenantId,
  ]);
  await db.end();
  return benchClient(client.url, await product.ask<string>({ do: 'token', tenantId }));
}

const external = '/api/v1/external';
export const accountRef = (index: number): string => `bench-account-${index}`;

/** Accounts with all that an account usually has. */
export async function createAccounts(client: BenchClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = await client.send('POST', `${external}/accounts`, {
      name: `Account ${index}`,
      number: `B-${index}`,
      externalId: accountRef(index),
      billingDay: 1,
      netTerm: 'Net 30',
      defaultCurrency: 'USD',
    });
    ids.push(account.id);
  }
  return ids;
}

/** Services with one metered attribute and a tiered card: a free band, then two rates. */
export async function createServices(client: BenchClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const service = await client.send('POST', `${external}/services`, {
      name: `service-${index}`,
      currency: 'USD',
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
              priceMethod: 'TIERED',
              rateCardTiers: [
                { tierNum: 1, tierMinVal: 0, tierMaxVal: 1000, tierUnitRate: 0, flatRate: false },
                {
                  tierNum: 2,
                  tierMinVal: 1000,
                  tierMaxVal: 10000,
                  tierUnitRate: 0.002,
                  flatRate: false,
                },
                {
                  tierNum: 3,
                  tierMinVal: 10000,
                  tierMaxVal: null,
                  tierUnitRate: 0.001,
                  flatRate: false,
                },
              ],
            },
          ],
        },
      ],
    });
    ids.push(service.id);
  }
  return ids;
}

/** Makes usage events, each with an id of its own. */
export class UsageMaker {
  #count = 0;
  readonly #run: string;
  readonly #services: readonly string[];
  readonly #accounts: number;
  constructor(run: string, services: readonly string[], accounts: number) {
    this.#run = run;
    this.#services = services;
    this.#accounts = accounts;
  }
  /** The next event as an ingestion body. */
  next(): { key: string; message: object } {
    this.#count += 1;
    const index = this.#count;
    const externalTransactionId = `${this.#run}-${index}`;
    return {
      key: externalTransactionId,
      message: {
        externalTransactionId,
        serviceId: this.#services[index % this.#services.length],
        eventTimestamp: new Date(Date.UTC(2026, 9, 1 + (index % 28), index % 24)).toISOString(),
        billingAccountRef: accountRef(index % this.#accounts),
        dimensions: { api_calls: String(1 + (index % 50)) },
      },
    };
  }
}
