import { expect } from 'chai';
import { openTestInstance, type TestInstance, type TestTenant } from '../support/instance.js';
import { createAccount, createService, meteredService, rate, usage } from '../support/usage.js';

describe('usage events', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async function () {
    this.timeout(60_000);
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('rates an event and explains its charge', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Messaging', meteredService);
    const event = await rate(
      tenant,
      usage('acme', serviceId, { dimensions: { api_calls: '1500' } }),
    );
    expect(event).to.include({ status: 'rated', code: null, offset: 0 });
    const [charge] = event.ratedTransactions;
    // 1000 free, 500 at 0.02.
    expect(charge).to.include({ amount: 10, currency: 'USD', quantity: 1500, matches: true });
    
  });
});
