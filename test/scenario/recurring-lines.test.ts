import { expect } from 'chai';
import { invoicesOf, itemLines, runBilling } from '../support/billing.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/instance.js';
import { createAccount, createService } from '../support/usage.js';

/** 10 a seat and month, by days. */
const seats = {
  serviceType: 'Subscription',
  priceableAttributes: [{ name: 'Seats', dimensionDataType: 'Number', isProration: true }],
  rateCards: [
    {
      currency: 'USD',
      rows: [{ priceDimName: 'Seats', label: 'Seats', priceMethod: 'QUANTITY', unitRate: 10 }],
    },
  ],
};

describe('what lines of contracts charge by the month', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  const sell = async (contract: object, line: object = {}) => {
    const serviceId = await createService(tenant, 'Seats', seats);
    const { body } = await tenant
      .post(`${external}/contracts`, {
        startDate: '2026-01-01',
        ...contract,
        services: [{ serviceId, ...line }],
      })
      .expect(201);
    return body.id as string;
  };
  const bill = async (first: string, last: string) =>
    (await invoicesOf(tenant, await runBilling(tenant, first, last))).flatMap(itemLines);

  it('counts what its dimension values say', async () => {
    const masterAccountId = await createAccount(tenant, 'acme');
    await sell({ masterAccountId }, { dimensionValues: { Seats: '7' } });
    // 7 x 10.
    expect(await bill('2026-01-01', '2026-01-31')).to.deep.equal([
      'Seats 2026-01-01..2026-01-31 70',
    ]);
  });

  it('ends with its contract, also where its own end is later', async () => {
    const masterAccountId = await createAccount(tenant, 'acme');
    await sell({ masterAccountId, endDate: '2026-01-08' }, { endDate: '2026-12-31' });
    // 10 x 8 / 31 = 2.5806...
    expect(await bill('2026-01-01', '2026-01-31')).to.deep.equal([
      'Seats 2026-01-01..2026-01-08 2.58',
    ]);
    expect(await bill('2026-02-01', '2026-02-28')).to.deep.equal([]);
  });

  it('charges no period twice when the contract moves to another account', async () => {
    const masterAccountId = await createAccount(tenant, 'acme');
    const other = await createAccount(tenant, 'other');
    const id = await sell({ masterAccountId });
    const january = ['Seats 2026-01-01..2026-01-31 10'];
    expect(await bill('2026-01-01', '2026-01-31')).to.deep.equal(january);
    await tenant.put(`${external}/contracts/${id}`, { masterAccountId: other }).expect(200);
    expect(await bill('2026-01-01', '2026-01-31')).to.deep.equal([]);
    expect(await bill('2026-02-01', '2026-02-28')).to.deep.equal([
      'Seats 2026-02-01..2026-02-28 10',
    ]);
  });
});
