import { expect } from 'chai';
import { invoicesOf, itemLines, runBilling } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { createAccount, createService } from '../support/billing/usage.js';

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

  describe('and days that no invoice charges', () => {
    const quarterly = { chargeFrequency: 'Quarterly', billingFrequency: 'Quarterly' };
    const monthly = { chargeFrequency: 'Monthly', billingFrequency: 'Monthly' };
    /** The charges of a run, and the days that it names. */
    const run = async (first: string, last: string) => {
      const output = await runBilling(tenant, first, last);
      const named = output.problems.map(({ code, message }) => {
        expect(code).to.equal('DAYS_NOT_CHARGED');
        return /ran on (.*) and no invoice/.exec(message)?.[1];
      });
      return { charged: (await invoicesOf(tenant, output)).flatMap(itemLines), named };
    };
    const sellFrom = async (startDate: string, terms: object) => {
      const masterAccountId = await createAccount(tenant, 'acme');
      const contractId = await sell({ masterAccountId, startDate, number: 'C-1' }, terms);
      const { body } = await tenant.get(`${external}/contracts/${contractId}`).expect(200);
      const path = `${external}/contract-services/${body.services[0].id}`;
      return (change: object) => tenant.put(path, change).expect(200);
    };

    it('are named when the frequency changes before its period was billed', async () => {
      const change = await sellFrom('2027-01-01', quarterly);
      expect(await run('2027-01-01', '2027-01-31')).to.deep.equal({ charged: [], named: [] });
      await change(monthly);
      // 10 for March; of January and February nobody was asked for anything.
      const march = { charged: ['Seats 2027-03-01..2027-03-31 10'] };
      const named = ['2027-01-01 to 2027-02-28'];
      const { problems } = await runBilling(tenant, '2027-03-01', '2027-03-31', { dryRun: true });
      expect(problems.map(({ message }) => message)).to.deep.equal([
        "'Seats' of contract C-1 ran on 2027-01-01 to 2027-02-28 and no invoice charges these " +
          'days: bill a period that ends with them, or, where an invoice has other days of the ' +
          'same period, void it and bill the period again.',
      ]);
      expect(await run('2027-03-01', '2027-03-31')).to.deep.equal({ ...march, named });
      // It says what to do: the two months at once, 10 each.
      expect(await run('2027-01-01', '2027-02-28')).to.deep.equal({
        charged: ['Seats 2027-01-01..2027-01-31 10', 'Seats 2027-02-01..2027-02-28 10'],
        named: [],
      });
      expect((await run('2027-04-01', '2027-04-30')).named).to.deep.equal([]);
    });

    it('are named when weeks become months', async () => {
      const weekly = { chargeFrequency: 'Weekly', billingFrequency: 'Weekly' };
      const change = await sellFrom('2027-03-01', weekly);
      // The weeks from Monday the 1st that have ended in March: to the 28th.
      expect((await run('2027-03-01', '2027-03-31')).charged).to.have.length(4);
      await change(monthly);
      expect(await run('2027-04-01', '2027-04-30')).to.deep.equal({
        charged: ['Seats 2027-04-01..2027-04-30 10'],
        named: ['2027-03-29 to 2027-03-31'],
      });
      // 10 x 3 / 31 = 0.9677...
      expect(await run('2027-03-01', '2027-03-31')).to.deep.equal({
        charged: ['Seats 2027-03-29..2027-03-31 0.97'],
        named: [],
      });
    });

    it('are named when the start is moved back, also within a month', async () => {
      const change = await sellFrom('2027-03-15', monthly);
      // 10 x 17 / 31 = 5.4838...
      const march = 'Seats 2027-03-15..2027-03-31 5.48';
      expect(await run('2027-03-01', '2027-03-31')).to.deep.equal({ charged: [march], named: [] });
      await change({ startDate: '2027-02-10' });
      expect(await run('2027-04-01', '2027-04-30')).to.deep.equal({
        charged: ['Seats 2027-04-01..2027-04-30 10'],
        named: ['2027-02-10 to 2027-03-14'],
      });
      // 10 x 19 / 28 = 6.7857...
      expect((await run('2027-02-01', '2027-02-28')).charged).to.deep.equal([
        'Seats 2027-02-10..2027-02-28 6.79',
      ]);
      const { body } = await tenant.get(`${external}/invoices?q=INV-000001`).expect(200);
      const invoiceId = body.data.content[0].Id;
      await tenant.post(`/v1/invoices/${invoiceId}/void`, { reason: 'The start' }).expect(200);
      expect((await run('2027-03-01', '2027-03-31')).charged).to.deep.equal([
        'Seats 2027-03-01..2027-03-31 10',
      ]);
      expect((await run('2027-05-01', '2027-05-31')).named).to.deep.equal([]);
    });

    it('are named when a run was left out or an invoice voided, once', async () => {
      await sellFrom('2027-01-01', monthly);
      await run('2027-01-01', '2027-01-31');
      expect((await run('2027-03-01', '2027-03-31')).named).to.deep.equal([
        '2027-02-01 to 2027-02-28',
      ]);
      expect((await run('2027-04-01', '2027-04-30')).named).to.deep.equal([]);
    });

    it('are none of those before a contract was known, or that just begins', async () => {
      // Taken over from elsewhere: what was before 2026-11 was billed there.
      await sellFrom('2020-01-01', monthly);
      expect((await run('2026-03-01', '2026-03-31')).named).to.deep.equal([]);
    });
  });
});
