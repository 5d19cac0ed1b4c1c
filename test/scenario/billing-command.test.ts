import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { testServers } from '../support/servers/servers.js';
import { waitUntilRated } from '../support/billing/usage.js';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

describe('durabill billing-run', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  let instance: TestInstance;
  let tenant: TestTenant;
  let temporal: Awaited<ReturnType<typeof testServers>>['temporal'];

  before(async () => {
    ({ temporal } = await testServers());
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
    for (const externalId of ['first', 'second']) {
      const account = { name: `The ${externalId}`, externalId, defaultCurrency: 'USD' };
      await tenant.post(`${external}/accounts`, account).expect(201);
    }
    const row = { priceDimName: 'calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 2 };
    const service = {
      name: 'Calls',
      currency: 'USD',
      priceableAttributes: [{ name: 'calls', dimensionDataType: 'Number' }],
      rateCards: [{ currency: 'USD', rows: [row] }],
    };
    const { body } = await tenant.post(`${external}/services`, service).expect(201);
    for (const [externalId, calls] of [['first', '3'] as const, ['second', '4'] as const]) {
      const message = {
        externalTransactionId: externalId,
        serviceId: body.id,
        billingAccountRef: externalId,
        eventTimestamp: '2026-03-01T00:00:00Z',
        dimensions: { calls },
      };
      await tenant.post('/v1/ingest/usage', { message }).expect(200);
    }
    await waitUntilRated(tenant, 2);
  });
  after(() => instance.close());

  const bill = (...options: string[]) =>
    new Promise<{ code: number; output: string; errors: string }>((resolve) => {
      const { config } = instance.platform;
      const env = {
        ...process.env,
        DATABASE_URL: instance.databaseUrl,
        PUBLIC_URL: instance.url,
        SECRET_KEY: config.secret.toString('base64'),
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
      };
      const period = ['--from', '2026-03-01', '--to', '2026-03-31'];
      const words = ['billing-run', '--tenant', tenant.id, ...period, ...options];
      execFile(
        process.execPath,
        ['--import', 'tsx', program, ...words],
        { env },
        (error, output, errors) =>
          resolve({ code: error ? Number(error.code) : 0, output, errors }),
      );
    });
  const invoicesOf = (output: string) =>
    (JSON.parse(output.slice(output.indexOf('{'))) as { invoices: Record<string, unknown>[] })
      .invoices;

  it('names the accounts of a dry run', async () => {
    const { code, output, errors } = await bill('--dry-run');
    expect(code, errors).to.equal(0);
    const names = invoicesOf(output).map(({ account, externalId }) => [account, externalId]);
    expect(names).to.have.deep.members([
      ['The first', 'first'],
      ['The second', 'second'],
    ]);
  });

  it('bills one account by its external id, and prints number, name and total', async () => {
    const { code, output, errors } = await bill('--account', 'first');
    expect(code, errors).to.equal(0);
    const [invoice, ...others] = invoicesOf(output);
    expect(others).to.deep.equal([]);
    // 3 calls at 2.
    expect(invoice).to.include({
      invoiceNo: 'INV-000001',
      account: 'The first',
      externalId: 'first',
      total: 6,
      currency: 'USD',
    });
  });

  it('ends with the reason where the account does not exist', async () => {
    const { code, output, errors } = await bill('--account', 'third');
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.equal("durabill: 'accountId' names no account: 'third'\n");
  });
});
