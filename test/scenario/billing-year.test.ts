import { expect } from 'chai';
import { invoicesOf, itemLines, runBilling } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const subscription = (label: string, unitRate: number, isProration: boolean) => ({
  serviceType: 'Subscription',
  priceableAttributes: [{ name: label, dimensionDataType: 'Number', isProration }],
  rateCards: [
    { currency: 'USD', rows: [{ priceDimName: label, label, priceMethod: 'QUANTITY', unitRate }] },
  ],
});

/** The last days of the months of 2028, a leap year. */
const lastDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

describe('a year of billing runs, month by month', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  /** Item lines by month, counted from 1. */
  const billed = new Map<number, string[]>();
  const runMonth = async (month: number, more: object = {}) => {
    const text = `2028-${String(month).padStart(2, '0')}`;
    return runBilling(tenant, `${text}-01`, `${text}-${lastDays[month - 1]}`, more);
  };
  const linesOf = async (output: Awaited<ReturnType<typeof runMonth>>) =>
    (await invoicesOf(tenant, output)).flatMap(itemLines).sort();

  before(async function () {
    this.timeout(120_000);
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
    const accountId = await createAccount(tenant, 'acme', { billingDay: 31 });
    const calls = await createService(tenant, 'Calls');
    const plan = await createService(tenant, 'Plan', subscription('Plan', 31, true));
    const support = await createService(tenant, 'Support', subscription('Support', 90, false));
    const licence = await createService(tenant, 'Licence', subscription('Licence', 366, true));
    const setup = await createService(tenant, 'Setup', {
      ...subscription('Setup', 250, false),
      serviceType: 'OTC',
    });
    const contract = await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: 'C',
        startDate: '2028-01-01',
        services: [
          // Monthly, from the 15th of February to the 10th of October.
          {
            serviceId: plan,
            chargeFrequency: 'Monthly',
            billingFrequency: 'Monthly',
            startDate: '2028-02-15',
          },
          { serviceId: support, chargeFrequency: 'Monthly', billingFrequency: 'Quarterly' },
          { serviceId: licence, chargeFrequency: 'Yearly' },
          { serviceId: setup, startDate: '2028-03-31' },
        ],
      })
      .expect(201);
    const at = (eventTimestamp: string, count: string) =>
      usage('acme', calls, { eventTimestamp, dimensions: { api_calls: count } });
    await send(tenant, at('2028-01-31T23:59:59.999Z', '150'), at('2028-02-29T12:00:00Z', '50'));
    await waitUntilRated(tenant, 2);
    for (let month = 1; month <= 12; month += 1) {
      // The price of the plan rises on the 16th of June, from 31 to 62.
      if (month === 6) await raisePrice(plan);
      if (month === 9) {
        const [line] = contract.body.services as { id: string }[];
        await tenant
          .put(`${external}/contract-services/${line?.id}/end`, { terminationDate: '2028-10-10' })
          .expect(200);
      }
      // Usage of March arrives in April.
      if (month === 4) {
        await send(tenant, at('2028-03-30T00:00:00Z', '7'), at('2028-04-01T00:00:00Z', '3'));
        await waitUntilRated(tenant, 4);
      }
      billed.set(month, await linesOf(await runMonth(month)));
    }
  });
  after(() => instance.close());

  /** A new version of the card, as a PUT on that day would have made it. */
  const raisePrice = async (serviceId: string) => {
    const put = (unitRate: number) =>
      tenant
        .put(`${external}/services/${serviceId}/rate-cards/USD`, {
          currency: 'USD',
          rows: [{ priceDimName: 'Plan', label: 'Plan', priceMethod: 'QUANTITY', unitRate }],
        })
        .expect(200);
    await tenant
      .post(`${external}/run/billing/service/approve`, { ID_Service: serviceId })
      .expect(200);
    await put(62);
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `update rate_card set from_date = case version_no when 1 then '2028-01-01'::date
           else '2028-06-16'::date end
         where tenant_id = $1 and service_id = $2`,
        [tenant.id, serviceId],
      ),
    );
  };

  const expected: readonly (readonly [month: number, lines: readonly string[], why: string])[] = [
    [1, ['API calls 2028-01-31..2028-01-31 1.5'], '150 x 0.01; nothing else has ended'],
    [
      2,
      ['API calls 2028-02-29..2028-02-29 0.5', 'Plan 2028-02-15..2028-02-29 16.03'],
      '15 of 29 days of a leap February: 31 x 15 / 29 = 16.0344...',
    ],
    [
      3,
      [
        'Plan 2028-03-01..2028-03-31 31',
        'Setup 2028-03-31..2028-03-31 250',
        'Support 2028-01-01..2028-01-31 90',
        'Support 2028-02-01..2028-02-29 90',
        'Support 2028-03-01..2028-03-31 90',
      ],
      'the first quarter of support by its months, and the setup on its day',
    ],
    [
      4,
      ['API calls 2028-03-30..2028-04-01 0.1', 'Plan 2028-04-01..2028-04-30 31'],
      '7 calls of March came late, 3 of April: 10 x 0.01',
    ],
    [5, ['Plan 2028-05-01..2028-05-31 31'], 'a whole month'],
    [
      6,
      [
        'Plan 2028-06-01..2028-06-15 15.5',
        'Plan 2028-06-16..2028-06-30 31',
        'Support 2028-04-01..2028-04-30 90',
        'Support 2028-05-01..2028-05-31 90',
        'Support 2028-06-01..2028-06-30 90',
      ],
      '31 x 15 / 30 and 62 x 15 / 30',
    ],
    [7, ['Plan 2028-07-01..2028-07-31 62'], 'the new price'],
    [8, ['Plan 2028-08-01..2028-08-31 62'], 'the new price'],
    [
      9,
      [
        'Plan 2028-09-01..2028-09-30 62',
        'Support 2028-07-01..2028-07-31 90',
        'Support 2028-08-01..2028-08-31 90',
        'Support 2028-09-01..2028-09-30 90',
      ],
      'the third quarter',
    ],
    [10, ['Plan 2028-10-01..2028-10-10 20'], 'ended on the 10th: 62 x 10 / 31'],
    [11, [], 'nothing falls due'],
    [
      12,
      [
        'Licence 2028-01-01..2028-12-31 366',
        'Support 2028-10-01..2028-10-31 90',
        'Support 2028-11-01..2028-11-30 90',
        'Support 2028-12-01..2028-12-31 90',
      ],
      'the licence of the year, 366 of 366 days, and the last quarter',
    ],
  ];
  for (const [month, lines, why] of expected) {
    it(`month ${month}: ${why}`, () => {
      expect(billed.get(month)).to.deep.equal(lines);
    });
  }

  // spec/beyond.md R16
  it('has no gaps in its numbers, and a second year of runs adds nothing', async () => {
    const { body } = await tenant.get(`${external}/invoices?size=20`).expect(200);
    const numbers = (body.data.content as { InvoiceNo: string }[]).map((one) => one.InvoiceNo);
    // Eleven months had something to bill.
    expect(numbers.sort()).to.deep.equal(
      Array.from({ length: 11 }, (_each, index) => `INV-${String(index + 1).padStart(6, '0')}`),
    );
    for (let month = 1; month <= 12; month += 1) {
      expect((await runMonth(month)).invoiceCount, `month ${month}`).to.equal(0);
    }
  }).timeout(60_000);

  it('bills a void invoice again, as the line is by now', async () => {
    const list = await tenant.get(`${external}/invoices?q=INV-000009`).expect(200);
    const id = list.body.data.content[0].Id as string;
    await tenant.post(`/v1/invoices/${id}/void`).expect(200);
    const dry = await runMonth(9, { dryRun: true });
    const again = await runMonth(9);
    expect(await linesOf(again)).to.deep.equal(billed.get(9));
    expect(dry.invoices?.flatMap(itemLines).sort()).to.deep.equal(billed.get(9));
    const explained = await tenant.get(`/v1/invoices/${again.invoiceIds[0]}/explain`).expect(200);
    for (const item of explained.body.items) {
      expect(item).to.include({ matches: true, parts: 1 });
      expect(item.charges[0].explanation).to.be.an('object');
    }
  });

  // spec/flows.md R36
  it('two runs of one period at once make one set of invoices', async () => {
    const list = await tenant.get(`${external}/invoices?size=20`).expect(200);
    for (const { Id } of list.body.data.content as { Id: string }[]) {
      await tenant.post(`/v1/invoices/${Id}/void`);
    }
    const year = () => runBilling(tenant, '2028-01-01', '2028-12-31');
    const outputs = await Promise.all([year(), year(), year()]);
    expect(outputs.map(({ invoiceCount }) => invoiceCount).sort()).to.deep.equal([0, 0, 1]);
    const lines = (await Promise.all(outputs.map(linesOf))).flat();
    // 1.5 + 0.5 + 0.1 of usage are one item now: 210 x 0.01.
    const items = [...billed.values()].flat().filter((line) => !line.startsWith('API calls'));
    expect(lines.sort()).to.deep.equal([...items, 'API calls 2028-01-31..2028-04-01 2.1'].sort());
  }).timeout(60_000);
});
