import { expect } from 'chai';
import { loadBillingLines } from '../../src/queries/billing/billing-account.js';
import { runBilling } from '../support/billing/billing-run.js';
import { watchLoop } from '../support/servers/event-loop.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { createAccount, createService } from '../support/billing/usage.js';

/** A subscription of 0.01 a day, on so many lines of a contract, since the first day of the calendar. */
async function subscribe(tenant: TestTenant, name: string, lines: number): Promise<string> {
  const accountId = await createAccount(tenant, name);
  const priceableAttributes = [{ name: 'seats', dimensionDataType: 'Number' }];
  const row = { priceDimName: 'seats', label: 'Seats', priceMethod: 'QUANTITY', unitRate: 0.01 };
  const serviceId = await createService(tenant, `Plan of ${name}`, {
    serviceType: 'Subscription',
    priceableAttributes,
    rateCards: [{ currency: 'USD', rows: [row] }],
  });
  const line = { serviceId, chargeFrequency: 'Daily', billingFrequency: 'Daily' };
  const services = Array.from({ length: lines }, () => line);
  const contract = { masterAccountId: accountId, name, currency: 'USD', startDate: '0001-01-01' };
  await tenant.post(`${external}/contracts`, { ...contract, services }).expect(201);
  return accountId;
}

/** 2,191 days. */
const sixYears = ['2020-11-01', '2026-10-31'] as const;

describe('a billing run over many periods', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('bills who has no more than may be billed together, and says who has', async () => {
    // 21,910 charges and 2,191.
    const accountId = await subscribe(tenant, 'many', 10);
    await subscribe(tenant, 'few', 1);
    const problem = {
      accountId,
      contractServiceId: null,
      chargeType: null,
      periodStart: null,
      code: 'TOO_MANY_CHARGES',
      message:
        'There are more than 20000 subscription and one-time charges in this period. Bill it in shorter ones.',
    };
    const run = await runBilling(tenant, ...sixYears);
    expect(run.invoiceCount).to.equal(1);
    expect(run.problems).to.deep.equal([problem]);
    const named = await runBilling(tenant, '1927-01-01', '2026-10-31', { accountId, dryRun: true });
    expect(named.invoiceCount).to.equal(0);
    expect(named.problems).to.deep.equal([problem]);
    const shorter = await runBilling(tenant, '2026-10-01', '2026-10-31');
    expect(shorter).to.deep.include({ invoiceCount: 1, problemCount: 0 });
  });

  it('does not take lines into memory that are too many together', async () => {
    const accountId = await subscribe(tenant, 'heavy', 3);
    const { read } = instance.platform.database.forTenant(tenant.id, {
      actor: 'test',
      requestId: 'test',
    });
    const lines = await loadBillingLines(read, tenant.id, [accountId]);
    expect(lines).to.have.length(3);
    // A line is some hundreds of bytes.
    expect(await loadBillingLines(read, tenant.id, [accountId], 1_000)).to.equal(undefined);
    expect(await loadBillingLines(read, tenant.id, [], 0)).to.deep.equal([]);
  });

  it('leaves the thread to others meanwhile', async () => {
    const accountId = await subscribe(tenant, 'long', 1);
    // 4,018 charges, and the same again when all of them are charged.
    const period = ['2015-01-01', '2025-12-31'] as const;
    for (const dryRun of [true, false, false]) {
      const { longestMs } = await watchLoop(() =>
        runBilling(tenant, ...period, { accountId, dryRun }),
      );
      expect(longestMs, `longest step, dryRun ${String(dryRun)}`).to.be.below(1_000);
    }
  });
});
