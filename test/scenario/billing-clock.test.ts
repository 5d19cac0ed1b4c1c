import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { monthsFrom } from '../support/story/periods.js';
import { every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** January 2028 to January 2029. */
const months = monthsFrom('2028-01', 13);

/** What happens while the clock goes through a leap year; each month is billed on the next one's first. */
describe('a leap year of billing, with the clock moved', () => {
  const story = useStory({ startsOn: '2027-12-15' });
  const { tenant } = story;
  const billed = new Map<string, readonly string[]>();
  const dates = new Map<string, string>();
  const lines = new Map<string, string>();
  let serviceId = { calls: '', plan: '' };

  const sendUsage = (eventTimestamp: string, count: string) =>
    story.send(
      usage('acme', serviceId.calls, { eventTimestamp, dimensions: { api_calls: count } }),
    );

  /** What people do, on the day on which they do it. */
  const happenings: readonly (readonly [day: string, act: () => Promise<unknown>])[] = [
    ['2028-01-31', () => sendUsage('2028-01-31T23:59:59.999Z', '150')],
    ['2028-02-10', () => story.changeLine(lines.get('Support'), every('Quarterly'))],
    ['2028-02-29', () => sendUsage('2028-02-29T23:59:59.999Z', '50')],
    // Usage of March arrives in April, after March was billed.
    ['2028-04-02', () => sendUsage('2028-03-30T00:00:00Z', '7')],
    ['2028-04-02', () => sendUsage('2028-04-01T00:00:00Z', '3')],
    ['2028-04-16', () => story.changePrices(serviceId.plan, usdCard(priceOfEach('Plan', 60)))],
    ['2028-08-05', () => story.endLine(lines.get('Hosting'), '2028-08-15')],
    ['2028-08-05', () => story.endLine(lines.get('Seats'), '2028-08-20')],
  ];

  before(async function () {
    this.timeout(120_000);
    const accountId = await story.account('acme', { netTerm: 'Net 30' });
    const made = new Map<string, string>();
    const prices = { Plan: 30, Seats: 31, Hosting: 91, Licence: 366, Support: 91 };
    for (const [name, price] of Object.entries(prices)) {
      made.set(name, await story.service(name, subscription(name, price)));
    }
    serviceId = { calls: await story.service('Calls'), plan: made.get('Plan') ?? '' };
    // Only the cards of an approved service have versions.
    await story.approveService(serviceId.plan);
    const line = (name: string, terms: object) => ({ serviceId: made.get(name), ...terms });
    const contract = await story.subscribe(
      accountId,
      [
        line('Plan', every('Monthly')),
        line('Seats', every('Monthly')),
        line('Hosting', every('Quarterly')),
        line('Licence', every('Yearly')),
        line('Support', every('Monthly')),
      ],
      { startDate: '2028-01-01' },
    );
    for (const one of contract.lines) {
      const [name = ''] = [...made].find(([, id]) => id === one.serviceId) ?? [];
      lines.set(name, one.id);
    }
    for (const name of ['Seats', 'Licence']) {
      await tenant
        .put(`/api/q2c-entity-services/CONTRACT/${lines.get(name)}`, {
          subscriptionChargeType: 'In Advance',
        })
        .expect(200);
    }
    story.jumpMonth();
    for (const month of months) {
      for (const [day, act] of happenings.filter(([on]) => on.startsWith(month))) {
        story.travelTo(day);
        await act();
      }
      const bill = await story.bill(story.jumpMonth());
      billed.set(month, bill.lines);
      const [invoice] = bill.invoices as unknown as { invoiceDate: string; dueDate: string }[];
      dates.set(month, `${invoice?.invoiceDate} ${invoice?.dueDate}`);
    }
  });

  /**
   * Every recurring price is for a whole period of its line: price x days charged / days of the period.
   * Plan: 30 a month until the 15th of April, then 60. Seats: 31 a month, Licence: 366 a year, both in
   * advance. Hosting: 91 a quarter. Support: 91 a month, from the 1st of February on 91 a quarter. A
   * call is 0.01.
   */
  const expected: readonly (readonly [month: string, lines: readonly string[], why: string])[] = [
    [
      '2028-01',
      [
        // 150 x 0.01
        'API calls 2028-01-31..2028-01-31 1.5',
        // 366 x 366 / 366: a leap year
        'Licence 2028-01-01..2028-12-31 366',
        // 30 x 31 / 31
        'Plan 2028-01-01..2028-01-31 30',
        // 31 x 31 / 31
        'Seats 2028-01-01..2028-01-31 31',
        // 91 x 31 / 31
        'Support 2028-01-01..2028-01-31 91',
      ],
      'calls of the last millisecond; licence and seats in advance',
    ],
    [
      '2028-02',
      [
        // 50 x 0.01
        'API calls 2028-02-29..2028-02-29 0.5',
        // 30 x 29 / 29
        'Plan 2028-02-01..2028-02-29 30',
        // 31 x 29 / 29
        'Seats 2028-02-01..2028-02-29 31',
      ],
      'calls of the leap day; support has become quarterly and is not due',
    ],
    [
      '2028-03',
      [
        // 31 + 29 + 31 = 91 days: 91 x 91 / 91
        'Hosting 2028-01-01..2028-03-31 91',
        // 30 x 31 / 31
        'Plan 2028-03-01..2028-03-31 30',
        // 31 x 31 / 31
        'Seats 2028-03-01..2028-03-31 31',
        // January was charged by the month: 29 + 31 = 60 of the quarter's days are left: 91 x 60 / 91
        'Support 2028-02-01..2028-03-31 60',
      ],
      'the first quarter, of the support what of it is left',
    ],
    [
      '2028-04',
      [
        // 7 of March, which came late, and 3 of April: 10 x 0.01
        'API calls 2028-03-30..2028-04-01 0.1',
        // The old price from the 1st to the 15th: 30 x 15 / 30
        'Plan 2028-04-01..2028-04-15 15',
        // The new one from the 16th to the 30th: 60 x 15 / 30
        'Plan 2028-04-16..2028-04-30 30',
        // 31 x 30 / 30
        'Seats 2028-04-01..2028-04-30 31',
      ],
      'late usage, and a price that rose on the 16th',
    ],
    [
      '2028-05',
      [
        // 60 x 31 / 31
        'Plan 2028-05-01..2028-05-31 60',
        // 31 x 31 / 31
        'Seats 2028-05-01..2028-05-31 31',
      ],
      'the new price',
    ],
    [
      '2028-06',
      [
        // 30 + 31 + 30 = 91 days: 91 x 91 / 91
        'Hosting 2028-04-01..2028-06-30 91',
        // 60 x 30 / 30
        'Plan 2028-06-01..2028-06-30 60',
        // 31 x 30 / 30
        'Seats 2028-06-01..2028-06-30 31',
        // 91 x 91 / 91
        'Support 2028-04-01..2028-06-30 91',
      ],
      'the second quarter',
    ],
    [
      '2028-07',
      [
        // 60 x 31 / 31
        'Plan 2028-07-01..2028-07-31 60',
        // 31 x 31 / 31
        'Seats 2028-07-01..2028-07-31 31',
      ],
      'whole months',
    ],
    [
      '2028-08',
      [
        // 31 + 15 = 46 of the third quarter's 31 + 31 + 30 = 92 days: 91 x 46 / 92
        'Hosting 2028-07-01..2028-08-15 45.5',
        // 60 x 31 / 31
        'Plan 2028-08-01..2028-08-31 60',
        // 31 x 20 / 31
        'Seats 2028-08-01..2028-08-20 20',
      ],
      'lines that ended on the 15th and the 20th',
    ],
    [
      '2028-09',
      [
        // 60 x 30 / 30
        'Plan 2028-09-01..2028-09-30 60',
        // 31 + 31 + 30 = 92 days: 91 x 92 / 92
        'Support 2028-07-01..2028-09-30 91',
      ],
      'the third quarter',
    ],
    [
      '2028-10',
      // 60 x 31 / 31
      ['Plan 2028-10-01..2028-10-31 60'],
      'a month of 31 days',
    ],
    [
      '2028-11',
      // 60 x 30 / 30
      ['Plan 2028-11-01..2028-11-30 60'],
      'a month of 30 days',
    ],
    [
      '2028-12',
      [
        // 60 x 31 / 31
        'Plan 2028-12-01..2028-12-31 60',
        // 31 + 30 + 31 = 92 days: 91 x 92 / 92
        'Support 2028-10-01..2028-12-31 91',
      ],
      'the fourth quarter',
    ],
    [
      '2029-01',
      [
        // 366 x 365 / 365: the price is for a year, however long
        'Licence 2029-01-01..2029-12-31 366',
        // 60 x 31 / 31
        'Plan 2029-01-01..2029-01-31 60',
      ],
      'the next year in advance',
    ],
  ];
  for (const [month, items, why] of expected) {
    it(`${month}: ${why}`, () => {
      expect(billed.get(month)).to.deep.equal(items);
    });
  }

  it('dates invoices by the clock, and their due dates 30 days later', () => {
    // 30 days after the 1st of February of a leap year: 28 to the 29th, and 2 more in March.
    expect(dates.get('2028-01')).to.equal('2028-02-01 2028-03-02');
    // 30 days after the 1st of a month of 31 days: its last.
    expect(dates.get('2028-12')).to.equal('2029-01-01 2029-01-31');
    // 27 to the 28th of a usual February, and 3 more in March.
    expect(dates.get('2029-01')).to.equal('2029-02-01 2029-03-03');
  });

  // spec/beyond.md R18
  it('bills a void month again with the next number, with prices as they are by then', async () => {
    const id = await story.invoiceNumbered('INV-000004');
    const before = await story.explain(id);
    await story.voidInvoice(id);
    const again = await story.bill('2028-04');
    // The thirteen months from January to January each had an invoice.
    expect(again.invoices[0]?.invoiceNo).to.equal('INV-000014');
    // Versions hold from their days on, so nothing has changed for April.
    expect(again.lines).to.deep.equal(billed.get('2028-04'));
    // A void invoice still tells what it was made of.
    const after = await story.explain(id);
    expect(after.invoiceStatus).to.equal('Void');
    expect(after.items).to.deep.equal(before.items);
    for (const item of after.items) expect(item).to.include({ matches: true });
    const [calls] = after.items.filter((item: { chargeType: string }) => {
      return item.chargeType === 'Usage';
    });
    // 7 x 0.01 + 3 x 0.01
    expect(calls).to.include({ parts: 2, exactAmount: 0.1, sumOfParts: 0.1 });
    expect(calls.transactions[0].explanation).to.be.an('object');
  });
});
