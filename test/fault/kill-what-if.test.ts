import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { unpackCharges } from '../../src/queries/usage/repricing/packed-charge.js';
import { meteredService } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { KillableProduct } from '../start/killable.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const tenantId = 'kill-what-if';
const events = 20_000;
const batch = 1_000;
/** How often the product dies with kill -9 while it rates: DURABILL_KILLS=100 for the long run. */
const kills = Number(process.env['DURABILL_KILLS'] ?? 5);

interface Execution {
  readonly status: string;
  readonly output: Record<string, unknown> | null;
  readonly error?: unknown;
}

describe('what-ifs while the product is killed with -9', function () {
  this.timeout(3_600_000);
  let product: KillableProduct;
  let token = '';
  before(async () => {
    product = await KillableProduct.start();
    token = await product.token(tenantId, '12h');
  });
  after(() => product.close());

  const call = async <T>(path: string, body?: unknown): Promise<T> => {
    const given = body === undefined ? { method: 'GET' } : { body };
    const answer = await product.send(token, path, given);
    const text = await answer.text();
    expect(answer.ok, `${path}: ${answer.status} ${text}`).to.equal(true);
    return JSON.parse(text) as T;
  };
  const read = async (id: string): Promise<Execution> => {
    const [row] = await product.query<Execution>(
      `select status, output, error from execution where tenant_id = '${tenantId}' and id = '${id}'`,
    );
    return row ?? { status: 'running', output: null };
  };
  const start = async (data: object): Promise<string> => {
    const body = { data, async: true };
    const path = '/v1/workflows/reprice/execute';
    return (await call<{ executionId: string }>(path, body)).executionId;
  };
  const ended = async (id: string): Promise<Record<string, unknown>> => {
    await until(
      async () => (await read(id)).status !== 'running',
      600_000,
      'the end of the what-if',
    );
    const { status, output, error } = await read(id);
    expect(status, JSON.stringify(error)).to.equal('completed');
    const { repricingId, ...figures } = output ?? {};
    expect(repricingId).to.equal(id);
    return figures;
  };
  /** What is kept of a what-if beside its figures: each account, and each charge, however many a row has. */
  const kept = async (id: string) => {
    const rows = await product.query<{ account_id: string; figures: object; charges: string }>(
      `select account.account_id,
         json_build_array(account.before, account.after, account.charges) as figures, charge.charges
       from repricing_account as account join repricing_charge as charge
         on charge.tenant_id = account.tenant_id and charge.repricing_id = account.repricing_id
         and charge.account_id = account.account_id
       where account.tenant_id = '${tenantId}' and account.repricing_id = '${id}'
       order by account.account_id, charge.first`,
    );
    const all = rows.flatMap(({ account_id: accountId, figures, charges }) =>
      unpackCharges(charges).map((charge) => JSON.stringify({ accountId, figures, charge })),
    );
    return { count: all.length, digest: createHash('sha256').update(all.join()).digest('hex') };
  };

  // spec/beyond.md R219, R229
  it('come to what one that nobody kills comes to, charge by charge', async () => {
    for (const externalId of ['acme', 'globex', 'initech']) {
      const account = { name: externalId, externalId, defaultCurrency: 'USD' };
      await call(`${external}/accounts`, account);
    }
    const service = { name: 'Metered', currency: 'USD', ...meteredService };
    const { id: serviceId } = await call<{ id: string }>(`${external}/services`, service);
    for (let from = 0; from < events; from += batch) {
      await call(
        '/v1/ingest/usage/batch',
        Array.from({ length: batch }, (_each, at) => ({
          message: {
            externalTransactionId: `w-${from + at}`,
            serviceId,
            // Most of it is of one account, which goes from portion to portion.
            billingAccountRef: ['acme', 'acme', 'acme', 'globex', 'initech'][at % 5],
            eventTimestamp: '2026-03-15T12:00:00Z',
            dimensions: { api_calls: String((at % 7) + 1) },
          },
        })),
      );
    }
    const isRated = async () =>
      (await call<{ pending: number }>('/v1/usage-events/summary')).pending === 0;
    await until(isRated, 300_000, 'rating');
    const data = {
      name: 'More usage',
      from: '2026-03-01',
      to: '2026-04-01',
      changes: [{ kind: 'usage', factor: 1.5 }],
      guard: { accountChangeMax: 10 },
    };
    const quiet = await start(data);
    const figures = await ended(quiet);
    expect(figures).to.include({ events });
    const killed: string[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      killed.push(await start(data));
      await wait(50 + Math.random() * 1_500);
      await product.kill();
      await product.launch();
    }
    const charges = await kept(quiet);
    expect(charges.count).to.equal(events);
    for (const id of killed) {
      expect(await ended(id)).to.deep.equal(figures);
      expect(await kept(id)).to.deep.equal(charges);
    }
    tellFigures({ kills, events, after: JSON.stringify(figures['after']) });
  });
});
