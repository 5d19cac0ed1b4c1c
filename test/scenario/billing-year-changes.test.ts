import { expect } from 'chai';
import { external } from '../support/servers/instance.js';
import { tiers, usage } from '../support/billing/usage.js';
import { monthsFrom } from '../support/story/periods.js';
import {
  attribute,
  every,
  meteredByMonth,
  priceOfEach,
  row,
  subscriptionOf,
  usdCard,
} from '../support/story/prices.js';
import { useStory, type Bill, type Subscribed } from '../support/story/story.js';

/** A leap year. */
const months = monthsFrom('2028-01', 12);

const taxed = (name: string, unitRate: number) => priceOfEach(name, unitRate, { taxCode: 'VAT' });

/**
 * A customer of whom everything changes within a year: its contract is replaced twice, the attribute
 * that its prices are of is renamed, two others bear its charges for a month, and it is exempt for a
 * month. Set-up 250 once, a plan of 31 a month, and calls: the first 100 of a month at 1, then 0.5,
 * all with a tax of 10 %. The catalog has calls at 5.
 */
describe('a year in which contract, prices, shares and exemption change', () => {
  const story = useStory();
  const { tenant } = story;
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  /** Items by month, as `account: description first..last amount + tax`. */
  const billed = new Map<string, string[]>();
  let contract: Subscribed;

  const linesOf = ({ invoices }: Bill): string[] =>
    invoices
      .flatMap(({ accountId, items }) =>
        items.map(
          ({ description, billStartDate, billEndDate, amount, tax }) =>
            `${names.get(accountId)}: ${description} ${billStartDate}..${billEndDate} ${amount} + ${tax}`,
        ),
      )
      .sort();
  const call = (day: string, dimensions: Readonly<Record<string, string>>) => {
    const eventTimestamp = `2028-${day}T12:00:00Z`;
    return story.send(usage('acme', ids.get('calls') ?? '', { eventTimestamp, dimensions }));
  };
  const readLines = async () =>
    (await tenant.get(contract.path).expect(200)).body.services as {
      readonly id: string;
      readonly serviceId: string;
      readonly startDate: string;
    }[];
  /** Puts the lines back as they were read: the contract gets new ones in their place. */
  const replaceContract = async () => {
    const services = await readLines();
    await story.changeContract(contract, { services: services.reverse() });
    const after = await readLines();
    expect(after.some(({ id }) => services.some((line) => line.id === id))).to.equal(false);
  };
  const share = async (accountMap: object | null) => {
    for (const { id } of await readLines()) {
      await tenant.put(`${contract.path}/services/${id}`, { accountMap }).expect(200);
    }
  };
  const exempt = (taxExempt: boolean) =>
    tenant.put(`${external}/accounts/${ids.get('acme')}`, { profile: { taxExempt } }).expect(200);

  /** What happens in a month, before it is billed. */
  const happenings: Readonly<Record<string, () => Promise<unknown>>> = {
    '2028-01': () => call('01-10', { api_calls: '150' }),
    '2028-02': async () => {
      await call('02-05', { api_calls: '60' });
      await replaceContract();
      await call('02-20', { api_calls: '60' });
    },
    '2028-04': async () => {
      const attributes = `${external}/services/${ids.get('calls')}/priceable-attributes`;
      const { body } = await tenant.get(attributes).expect(200);
      await tenant.put(`${attributes}/${body.content[0].id}`, { name: 'requests' }).expect(200);
      await call('04-10', { requests: '130' });
    },
    '2028-05': async () => {
      await share({ [ids.get('north') ?? '']: 2, [ids.get('south') ?? '']: 1 });
      await call('05-10', { requests: '101' });
    },
    '2028-06': () => share(null),
    '2028-07': () => exempt(true),
    '2028-08': () => exempt(false),
    '2028-09': async () => {
      await replaceContract();
      const plan = (await readLines()).find(({ serviceId }) => serviceId === ids.get('plan'));
      await story.endLine(plan?.id, '2028-09-10');
    },
    '2028-10': () => call('10-10', { requests: '10' }),
  };

  before(async function () {
    this.timeout(120_000);
    await story.taxRate('VAT', 10);
    ids.set('acme', await story.account('acme'));
    ids.set('north', await story.account('north'));
    ids.set('south', await story.account('south', { profile: { taxExempt: true } }));
    for (const [name, id] of ids) names.set(id, name);
    ids.set(
      'calls',
      await story.service('Calls', {
        priceableAttributes: [attribute('api_calls', meteredByMonth)],
        rateCards: [usdCard(taxed('api_calls', 5))],
      }),
    );
    ids.set('plan', await story.service('Plan', subscriptionOf(taxed('Plan', 31))));
    ids.set(
      'setup',
      await story.service('Setup', subscriptionOf(taxed('Setup', 250), { serviceType: 'OTC' })),
    );
    const lines = [
      { serviceId: ids.get('plan'), ...every('Monthly') },
      { serviceId: ids.get('setup') },
      {
        serviceId: ids.get('calls'),
        // Attributes of its own, so that its card prices that of the catalog, which is renamed.
        priceableAttributes: [attribute('seats')],
        rateCards: [
          usdCard(
            row('api_calls', {
              label: 'Calls',
              taxCode: 'VAT',
              ...tiers([0, 100, 1], [100, null, 0.5]),
            }),
          ),
        ],
      },
    ];
    contract = await story.subscribe(
      ids.get('acme') ?? '',
      lines.map((line) => ({ ...line, startDate: '2028-01-01' })),
      { startDate: '2028-01-01' },
    );
    for (const month of months) {
      await happenings[month]?.();
      billed.set(month, linesOf(await story.bill(month)));
    }
  });

  const plan = (month: string, last: number, tax = '3.1') =>
    `acme: Plan 2028-${month}-01..2028-${month}-${last} 31 + ${tax}`;
  const expected: readonly (readonly [month: string, lines: readonly string[], why: string])[] = [
    [
      '2028-01',
      [
        'acme: Calls 2028-01-10..2028-01-10 125 + 12.5',
        plan('01', 31),
        'acme: Setup 2028-01-01..2028-01-01 250 + 25',
      ],
      '100 x 1 + 50 x 0.5, by the price of the line and not 150 x 5',
    ],
    [
      '2028-02',
      ['acme: Calls 2028-02-05..2028-02-20 110 + 11', plan('02', 29)],
      'replaced in the middle: 60 x 1, then 40 x 1 + 20 x 0.5, since the counter goes on; no set-up again',
    ],
    ['2028-03', [plan('03', 31)], 'the plan alone'],
    [
      '2028-04',
      ['acme: Calls 2028-04-10..2028-04-10 115 + 11.5', plan('04', 30)],
      'the attribute has another name and the line its own price: 100 x 1 + 30 x 0.5',
    ],
    [
      '2028-05',
      [
        'north: Calls (share 2 of 3) 2028-05-10..2028-05-10 67 + 6.7',
        'north: Plan (share 2 of 3) 2028-05-01..2028-05-31 20.67 + 2.07',
        'south: Calls (share 1 of 3) 2028-05-10..2028-05-10 33.5 + 0',
        'south: Plan (share 1 of 3) 2028-05-01..2028-05-31 10.33 + 0',
      ],
      '100 x 1 + 1 x 0.5 = 100.5 and 31 by 2 and 1: 67 and 33.5, 20.666… and 31 - 20.67; the south is exempt',
    ],
    ['2028-06', [plan('06', 30)], 'the account bears its charges again'],
    ['2028-07', [plan('07', 31, '0')], 'the account is exempt'],
    ['2028-08', [plan('08', 31)], 'and is taxed again'],
    [
      '2028-09',
      ['acme: Plan 2028-09-01..2028-09-10 10.33 + 1.03'],
      'replaced, and ended on the 10th: 31 x 10 / 30 = 10.333…, 10 % of 10.33',
    ],
    ['2028-10', ['acme: Calls 2028-10-10..2028-10-10 10 + 1'], '10 x 1'],
    ['2028-11', [], 'nothing falls due'],
    ['2028-12', [], 'nothing falls due'],
  ];
  for (const [month, lines, why] of expected) {
    it(`${month}: ${why}`, () => {
      expect(billed.get(month)).to.deep.equal([...lines].sort());
    });
  }

  // spec/flows.md R36
  it('comes to what the months come to, and a second year of runs adds nothing', async () => {
    const { body } = await tenant.get(`${external}/invoices?size=20`).expect(200);
    const rows = body.data.content as { Amount: number; TaxAmount: number; Total: number }[];
    const cents = (read: (row: (typeof rows)[number]) => number) =>
      rows.reduce((sum, row) => sum + Math.round(read(row) * 100), 0);
    // 406 + 141 + 31 + 146 + 131.5 + 31 + 31 + 31 + 10.33 + 10 = 968.83
    expect(cents(({ Amount }) => Amount)).to.equal(96_883);
    // 40.6 + 14.1 + 3.1 + 14.6 + 8.77 + 3.1 + 0 + 3.1 + 1.03 + 1 = 89.4
    expect(cents(({ TaxAmount }) => TaxAmount)).to.equal(8_940);
    // Ten months of the account less May, and May for two others.
    expect(rows).to.have.length(11);
    for (const month of months) {
      expect((await story.bill(month)).run.invoiceCount, month).to.equal(0);
    }
  }).timeout(120_000);

  it('bills the month that was shared again as it was, when it is void', async () => {
    const { body } = await tenant
      .get(`${external}/invoices?fromDate=2020-01-01&size=20`)
      .expect(200);
    const ofMay = (body.data.content as { Id: string; AccountName: string }[]).filter(
      ({ AccountName }) => AccountName !== 'acme',
    );
    expect(ofMay).to.have.length(2);
    await share({ [ids.get('north') ?? '']: 2, [ids.get('south') ?? '']: 1 });
    for (const { Id } of ofMay) await story.voidInvoice(Id);
    expect(linesOf(await story.bill('2028-05'))).to.deep.equal(billed.get('2028-05'));
  });
});
