import { expect } from 'chai';
import { invoicesOf, runBilling } from '../support/billing/billing-run.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const taxed = (taxCode: string) => ({
  rateCards: [
    {
      currency: 'USD',
      rows: [
        {
          priceDimName: 'api_calls',
          label: 'API calls',
          priceMethod: 'QUANTITY',
          unitRate: 0.1,
          taxCode,
        },
      ],
    },
  ],
});

describe('what a billing run says of what it left out', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  const march = (more: object = {}) => runBilling(tenant, '2026-03-01', '2026-03-31', more);

  // spec/beyond.md R14
  it('an account that is exempt pays no tax, and its neighbour does', async () => {
    await tenant.post('/v1/tax-rates', { code: 'VAT', rate: 20 }).expect(201);
    const service = await createService(tenant, 'Calls', taxed('VAT'));
    const exempt = await createAccount(tenant, 'charity', { profile: { taxExempt: true } });
    await createAccount(tenant, 'firm', { profile: { taxExempt: false } });
    await send(tenant, usage('charity', service), usage('firm', service));
    await waitUntilRated(tenant, 2);
    const run = await march();
    expect(run.problems).to.deep.equal([]);
    const invoices = await invoicesOf(tenant, run);
    // 100 x 0.1 = 10, and 20 % of that.
    const taxes = invoices.map(({ accountId, amount, taxAmount }) => [
      accountId === exempt,
      amount,
      taxAmount,
    ]);
    expect(taxes.sort()).to.deep.equal([
      [false, 10, 2],
      [true, 10, 0],
    ]);
  });

  // spec/flows.md R37
  it('a tax code that no tax rate has is told once for an account, dry or not', async () => {
    const service = await createService(tenant, 'Calls', taxed('GST'));
    const accountId = await createAccount(tenant, 'firm');
    await send(tenant, usage('firm', service), usage('firm', service));
    await waitUntilRated(tenant, 2);
    const dry = await march({ dryRun: true });
    const run = await march();
    expect(run).to.include({ invoiceCount: 1, problemCount: 1 });
    expect(run.problems).to.deep.equal(dry.problems);
    expect(run.problems[0]).to.include({ accountId, code: 'TAX_RATE_MISSING' });
    expect(run.problems[0]?.message).to.include("'API calls' has the tax code 'GST'");
  });

  // spec/flows.md R38
  it('rejected events of the period are counted by reason, of a named account its own', async () => {
    const service = await createService(tenant, 'Calls');
    const firm = await createAccount(tenant, 'firm');
    const other = await createAccount(tenant, 'other');
    const bad = { dimensions: { api_calls: 'many' } };
    await send(
      tenant,
      usage('firm', service, bad),
      usage('firm', service, bad),
      usage('nobody', service),
      // Of another period.
      usage('firm', service, { ...bad, eventTimestamp: '2026-04-01T00:00:00Z' }),
    );
    await waitUntilRated(tenant, 4);
    const counts = ({ problems }: Awaited<ReturnType<typeof march>>) =>
      problems.map(({ code, events }) => [code, events]);
    expect(counts(await march({ dryRun: true }))).to.deep.equal([
      ['ACCOUNT_NOT_FOUND', 1],
      ['INVALID_DIMENSION', 2],
    ]);
    expect(counts(await march({ accountId: firm }))).to.deep.equal([['INVALID_DIMENSION', 2]]);
    expect(counts(await march({ accountId: other }))).to.deep.equal([]);
  });
});
