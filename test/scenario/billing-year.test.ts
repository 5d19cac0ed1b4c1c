import { expect } from 'chai';
import { itemLines } from '../support/billing/billing-run.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { usage } from '../support/billing/usage.js';
import { monthsFrom } from '../support/story/periods.js';
import { attribute, every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** A subscription that charges a period as a whole, however many days of it. */
const wholePeriods = (label: string, unitRate: number) =>
  subscription(label, unitRate, {
    priceableAttributes: [attribute(label, { isProration: false })],
  });

/** A leap year. */
const months = monthsFrom('2028-01', 12);

describe('a year of billing runs, month by month', () => {
  const story = useStory();
  const { instance, tenant } = story;
  const billed = new Map<string, readonly string[]>();

  before(async function () {
    this.timeout(120_000);
    const accountId = await story.account('acme', { billingDay: 31 });
    const calls = await story.service('Calls');
    const plan = await story.service('Plan', subscription('Plan', 31));
    const support = await story.service('Support', wholePeriods('Support', 90));
    const licence = await story.service('Licence', subscription('Licence', 366));
    const setup = await story.service('Setup', {
      ...wholePeriods('Setup', 250),
      serviceType: 'OTC',
    });
    const contract = await story.subscribe(
      accountId,
      [
        // Monthly, from the 15th of February to the 10th of October.
        { serviceId: plan, ...every('Monthly'), startDate: '2028-02-15' },
        { serviceId: support, chargeFrequency: 'Monthly', billingFrequency: 'Quarterly' },
        { serviceId: licence, chargeFrequency: 'Yearly' },
        { serviceId: setup, startDate: '2028-03-31' },
      ],
      { startDate: '2028-01-01' },
    );
    const at = (eventTimestamp: string, count: string) =>
      usage('acme', calls, { eventTimestamp, dimensions: { api_calls: count } });
    await story.send(at('2028-01-31T23:59:59.999Z', '150'), at('2028-02-29T12:00:00Z', '50'));
    for (const month of months) {
      // The price of the plan rises on the 16th of June, from 31 to 62.
      if (month === '2028-06') await raisePrice(plan);
      if (month === '2028-09') await story.endLine(contract.lines[0]?.id, '2028-10-10');
      // Usage of March arrives in April.
      if (month === '2028-04') {
        await story.send(at('2028-03-30T00:00:00Z', '7'), at('2028-04-01T00:00:00Z', '3'));
      }
      billed.set(month, (await story.bill(month)).lines);
    }
  });

  /** A new version of the card, as a PUT on that day would have made it. */
  const raisePrice = async (serviceId: string) => {
    await story.approveService(serviceId);
    await story.changePrices(serviceId, usdCard(priceOfEach('Plan', 62)));
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `update rate_card set from_date = case version_no when 1 then '2028-01-01'::date
           else '2028-06-16'::date end
         where tenant_id = $1 and service_id = $2`,
        [tenant.id, serviceId],
      ),
    );
  };

  const expected: readonly (readonly [month: string, lines: readonly string[], why: string])[] = [
    ['2028-01', ['API calls 2028-01-31..2028-01-31 1.5'], '150 x 0.01; nothing else has ended'],
    [
      '2028-02',
      ['API calls 2028-02-29..2028-02-29 0.5', 'Plan 2028-02-15..2028-02-29 16.03'],
      '15 of 29 days of a leap February: 31 x 15 / 29 = 16.0344...',
    ],
    [
      '2028-03',
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
      '2028-04',
      ['API calls 2028-03-30..2028-04-01 0.1', 'Plan 2028-04-01..2028-04-30 31'],
      '7 calls of March came late, 3 of April: 10 x 0.01',
    ],
    ['2028-05', ['Plan 2028-05-01..2028-05-31 31'], 'a whole month'],
    [
      '2028-06',
      [
        'Plan 2028-06-01..2028-06-15 15.5',
        'Plan 2028-06-16..2028-06-30 31',
        'Support 2028-04-01..2028-04-30 90',
        'Support 2028-05-01..2028-05-31 90',
        'Support 2028-06-01..2028-06-30 90',
      ],
      '31 x 15 / 30 and 62 x 15 / 30',
    ],
    ['2028-07', ['Plan 2028-07-01..2028-07-31 62'], 'the new price'],
    ['2028-08', ['Plan 2028-08-01..2028-08-31 62'], 'the new price'],
    [
      '2028-09',
      [
        'Plan 2028-09-01..2028-09-30 62',
        'Support 2028-07-01..2028-07-31 90',
        'Support 2028-08-01..2028-08-31 90',
        'Support 2028-09-01..2028-09-30 90',
      ],
      'the third quarter',
    ],
    ['2028-10', ['Plan 2028-10-01..2028-10-10 20'], 'ended on the 10th: 62 x 10 / 31'],
    ['2028-11', [], 'nothing falls due'],
    [
      '2028-12',
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
    it(`${month}: ${why}`, () => {
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
    for (const month of months) {
      expect((await story.bill(month)).run.invoiceCount, month).to.equal(0);
    }
  }).timeout(120_000);

  it('bills a void invoice again, as the line is by now', async () => {
    await story.voidInvoice(await story.invoiceNumbered('INV-000009'));
    const dry = await story.preview('2028-09');
    const again = await story.bill('2028-09');
    expect(again.lines).to.deep.equal(billed.get('2028-09'));
    expect(dry.invoices?.flatMap(itemLines).sort()).to.deep.equal(billed.get('2028-09'));
    const explained = await story.explain(again.invoices[0]?.id);
    for (const item of explained.items) {
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
    const year = () => story.bill(['2028-01-01', '2028-12-31']);
    const bills = await Promise.all([year(), year(), year()]);
    expect(bills.map(({ run }) => run.invoiceCount).sort()).to.deep.equal([0, 0, 1]);
    const lines = bills.flatMap((bill) => bill.lines);
    // 1.5 + 0.5 + 0.1 of usage are one item now: 210 x 0.01.
    const items = [...billed.values()].flat().filter((line) => !line.startsWith('API calls'));
    expect(lines.sort()).to.deep.equal([...items, 'API calls 2028-01-31..2028-04-01 2.1'].sort());
  }).timeout(120_000);
});
