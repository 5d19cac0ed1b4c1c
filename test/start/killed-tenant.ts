import { expect } from 'chai';
import { meteredService } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import type { KillableProduct } from './killable.js';
import { until } from './workbench.js';

export interface Execution {
  readonly status: string;
  readonly output: Record<string, unknown> | null;
  readonly error?: unknown;
}

interface Usage {
  readonly events: number;
  /** The external ids of accounts: that of each event by its number. */
  readonly accounts: readonly string[];
  /** What external ids of events begin with. */
  readonly prefix: string;
}

const batch = 1_000;
const endMs = 600_000;

/** What a test does in a tenant of a product that is killed meanwhile. */
export class KilledTenant {
  readonly product: KillableProduct;
  readonly id: string;
  readonly token: string;

  private constructor(product: KillableProduct, id: string, token: string) {
    this.product = product;
    this.id = id;
    this.token = token;
  }

  static async open(product: KillableProduct, id: string): Promise<KilledTenant> {
    return new KilledTenant(product, id, await product.token(id, '12h'));
  }

  async call<T>(path: string, body?: unknown): Promise<T> {
    const given = body === undefined ? { method: 'GET' } : { body };
    const answer = await this.product.send(this.token, path, given);
    const text = await answer.text();
    expect(answer.ok, `${path}: ${answer.status} ${text}`).to.equal(true);
    return JSON.parse(text) as T;
  }

  /** A metered service with usage of March 2026 from 1 to 7, all of it rated; the service's id. */
  async fill({ events, accounts, prefix }: Usage): Promise<string> {
    for (const externalId of new Set(accounts)) {
      const account = { name: externalId, externalId, defaultCurrency: 'USD' };
      await this.call(`${external}/accounts`, account);
    }
    const service = { name: 'Metered', currency: 'USD', ...meteredService };
    const { id: serviceId } = await this.call<{ id: string }>(`${external}/services`, service);
    for (let from = 0; from < events; from += batch) {
      await this.call(
        '/v1/ingest/usage/batch',
        Array.from({ length: Math.min(batch, events - from) }, (_each, at) => ({
          message: {
            externalTransactionId: `${prefix}-${from + at}`,
            serviceId,
            billingAccountRef: accounts[(from + at) % accounts.length],
            eventTimestamp: '2026-03-15T12:00:00Z',
            dimensions: { api_calls: String(((from + at) % 7) + 1) },
          },
        })),
      );
    }
    const isRated = async () =>
      (await this.call<{ pending: number }>('/v1/usage-events/summary')).pending === 0;
    await until(isRated, endMs, 'rating');
    return serviceId;
  }

  /** Executes a workflow and waits for its answer. */
  execute(name: string, data: object): Promise<Execution> {
    return this.call(`/v1/workflows/${name}/execute`, { data });
  }

  /** Begins an execution; its id. */
  async start(name: string, data: object): Promise<string> {
    const body = { data, async: true };
    const path = `/v1/workflows/${name}/execute`;
    return (await this.call<{ executionId: string }>(path, body)).executionId;
  }

  /** From the database: the API would count so many questions. */
  async #read(id: string): Promise<Execution> {
    const [row] = await this.product.query<Execution>(
      `select status, output, error from execution where tenant_id = '${this.id}' and id = '${id}'`,
    );
    return row ?? { status: 'running', output: null };
  }

  /** What has come of an execution that is completed. */
  async ended(name: string, id: string): Promise<Record<string, unknown>> {
    const isOver = async () => (await this.#read(id)).status !== 'running';
    await until(isOver, endMs, `the end of ${name}`);
    const { status, output, error } = await this.#read(id);
    expect(status, `${name}: ${JSON.stringify(error)}`).to.equal('completed');
    return output ?? {};
  }
}
