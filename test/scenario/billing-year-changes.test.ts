import { expect } from 'chai';
import { invoicesOf, runBilling, type RunOutput } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  tiers,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

/** The last days of the months of 2028, a leap year. */
const lastDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const number = (name: string, more: object = {}) => ({
  name,
  dimensionDataType: 'Number',
  ...more,
});
const flat = (name: string, unitRate: number) => ({
  priceDimName: name,
  label: name,
  priceMethod: 'QUANTITY',
  unitRate,
  taxCode: 'VAT',
});
const recurring = (serviceType: string, name: string, unitRate: number) => ({
  serviceType,
  priceableAttributes: [number(name, { isProration: true })],
  rateCards: [{ currency: 'USD', rows: [flat(name, unitRate)] }],
});

/**
 * A customer of whom everything changes within a year: its contract is replaced twice, the attribute
 * that its prices are of is renamed, two others bear its charges for a month, and it is exempt for a
 * month. Set-up 250 once, a plan of 31 a month, and calls: the first 100 of a month at 1, then 0.5,
 * all with a tax of 10 %. The catalog has calls at 5.
 */
describe('a year in which contract, prices, shares and exemption change', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  /** Items by month, as `account: description first..last amount + tax`. */
  const billed = new Map<number, string[]>();
  let events = 0;

  const monthOf = (month: number) => `2028-${String(month).padStart(2, '0')}`;
  const runMonth = (month: number): Promise<RunOutput> =>
    runBilling(tenant, `${monthOf(month)}-01`, `${monthOf(month)}-${lastDays[month - 1]}`);
  const linesOf = async (output: RunOutput): Promise<string[]> =>
    (await invoicesOf(tenant, output))
      .flatMap(({ accountId, items }) =>
        items.map(
          ({ description, billStartDate, billEndDate, amount, tax }) =>
            `${names.get(accountId)}: ${description} ${billStartDate}..${billEndDate} ${amount} + ${tax}`,
        ),
      )
      .sort();
  const call = async (day: string, dimensions: Readonly<Record<string, string>>) => {
    const eventTimestamp = `2028-${day}T12:00:00Z`;
    await send(tenant, usage('acme', ids.get('calls') ?? '', { eventTimestamp, dimensions }));
    events += 1;
    await waitUntilRated(tenant, events);
  };
  const contractPath = () => `${external}/contracts/${ids.get('contract')}`;
  const readLines = async () =>
    (await tenant.get(contractPath()).expect(200)).body.services as {
      readonly id: string;
      readonly serviceId: string;
      readonly startDate: string;
    }[];
  /** Puts the lines back as they were read: the contract gets new ones in their place. */
  const replaceContract = async () => {
    const services = await readLines();
    await tenant.put(contractPath(), { services: services.reverse() }).expect(200);
    const after = await readLines();
    expect(after.some(({ id }) => services.some((line) => line.id === id))).to.equal(false);
  };
  const share = async (accountMap: object | null) => {
    for (const { id } of await readLines()) {
      await tenant.put(`${contractPath()}/services/${id}`, { accountMap }).expect(200);
    }
  };
  const exempt = (taxExempt: boolean) =>
    tenant.put(`${external}/accounts/${ids.get('acme')}`, { profile: { taxExempt } }).expect(200);

  /** What happens in a month, before it is billed. */
  const story: Readonly<Record<number, () => Promise<unknown>>> = {
    1: () => call('01-10', { api_calls: '150' }),
    2: async () => {
      await call('02-05', { api_calls: '60' });
      await replaceContract();
      await call('02-20', { api_calls: '60' });
    },
    4: async () => {
      const attributes = `${external}/services/${ids.get('calls')}/priceable-attributes`;
      const { body } = await tenant.get(attributes).expect(200);
      await tenant.put(`${attributes}/${body.content[0].id}`, { name: 'requests' }).expect(200);
      await call('04-10', { requests: '130' });
    },
    5: async () => {
      await share({ [ids.get('north') ?? '']: 2, [ids.get('south') ?? '']: 1 });
      await call('05-10', { requests: '101' });
    },
    6: () => share(null),
    7: () => exempt(true),
    8: () => exempt(false),
    9: async () => {
      await replaceContract();
      const plan = (await readLines()).find(({ serviceId }) => serviceId === ids.get('plan'));
      const path = `${contractPath()}/services/${plan?.id}/end`;
      await tenant.put(path, { terminationDate: '2028-09-10' }).expect(200);
    },
    10: () => call('10-10', { requests: '10' }),
  };

  before(async function () {
    this.timeout(120_000);
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
    await tenant.post('/v1/tax-rates', { code: 'VAT', rate: 10 }).expect(201);
    ids.set('acme', await createAccount(tenant, 'acme'));
    ids.set('north', await createAccount(tenant, 'north'));
    ids.set('south', await createAccount(tenant, 'south', { profile: { taxExempt: true } }));
    for (const [name, id] of ids) names.set(id, name);
    const metered = { isMeterDimension: true, meterResetFrequency: 'Monthly' };
    ids.set(
      'calls',
      await createService(tenant, 'Calls', {
        priceableAttributes: [number('api_calls', metered)],
        rateCards: [{ currency: 'USD', rows: [flat('api_calls', 5)] }],
      }),
    );
    ids.set('plan', await createService(tenant, 'Plan', recurring('Subscription', 'Plan', 31)));
    ids.set('setup', await createService(tenant, 'Setup', recurring('OTC', 'Setup', 250)));
    const { body } = await tenant
      .post(`${external}/contracts`, {
        masterAccountId: ids.get('acme'),
        name: 'C',
        startDate: '2028-01-01',
        services: [
          { serviceId: ids.get('plan'), chargeFrequency: 'Monthly', billingFrequency: 'Monthly' },
          { serviceId: ids.get('setup') },
          {
            serviceId: ids.get('calls'),
            // Attributes of its own, so that its card prices that of the catalog, which is renamed.
            priceableAttributes: [number('seats')],
            rateCards: [
              {
                currency: 'USD',
                rows: [
                  {
                    priceDimName: 'api_calls',
                    label: 'Calls',
                    taxCode: 'VAT',
                    ...tiers([0, 100, 1], [100, null, 0.5]),
                  },
                ],
              },
            ],
          },
        ].map((line) => ({ ...line, startDate: '2028-01-01' })),
      })
      .expect(201);
    ids.set('contract', body.id);
    for (let month = 1; month <= 12; month += 1) {
      await story[month]?.();
      billed.set(month, await linesOf(await runMonth(month)));
    }
  });
  after(() => instance.close());

  const plan = (month: string, last: number, tax = '3.1') =>
    `acme: Plan 2028-${month}-01..2028-${month}-${last} 31 + ${tax}`;
  const expected: readonly (readonly [month: number, lines: readonly string[], why: string])[] = [
    [
      1,
      [
        'acme: Calls 2028-01-10..2028-01-10 125 + 12.5',
        plan('01', 31),
        'acme: Setup 2028-01-01..2028-01-01 250 + 25',
      ],
      '100 x 1 + 50 x 0.5, by the price of the line and not 150 x 5',
    ],
    [
      2,
      ['acme: Calls 2028-02-05..2028-02-20 110 + 11', plan('02', 29)],
      'replaced in the middle: 60 x 1, then 40 x 1 + 20 x 0.5, since the counter goes on; no set-up again',
    ],
    [3, [plan('03', 31)], 'the plan alone'],
    [
      4,
      ['acme: Calls 2028-04-10..2028-04-10 115 + 11.5', plan('04', 30)],
      'the attribute has another name and the line its own price: 100 x 1 + 30 x 0.5',
    ],
    [
      5,
      [
        'north: Calls (share 2 of 3) 2028-05-10..2028-05-10 67 + 6.7',
        'north: Plan (share 2 of 3) 2028-05-01..2028-05-31 20.67 + 2.07',
        'south: Calls (share 1 of 3) 2028-05-10..2028-05-10 33.5 + 0',
        'south: Plan (share 1 of 3) 2028-05-01..2028-05-31 10.33 + 0',
      ],
      '100 x 1 + 1 x 0.5 = 100.5 and 31 by 2 and 1: 67 and 33.5, 20.666… and 31 - 20.67; the south is exempt',
    ],
    [6, [plan('06', 30)], 'the account bears its charges again'],
    [7, [plan('07', 31, '0')], 'the account is exempt'],
    [8, [plan('08', 31)], 'and is taxed again'],
    [
      9,
      ['acme: Plan 2028-09-01..2028-09-10 10.33 + 1.03'],
      'replaced, and ended on the 10th: 31 x 10 / 30 = 10.333…, 10 % of 10.33',
    ],
    [10, ['acme: Calls 2028-10-10..2028-10-10 10 + 1'], '10 x 1'],
    [11, [], 'nothing falls due'],
    [12, [], 'nothing falls due'],
  ];
  for (const [month, lines, why] of expected) {
    it(`month ${month}: ${why}`, () => {
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
    for (let month = 1; month <= 12; month += 1) {
      expect((await runMonth(month)).invoiceCount, `month ${month}`).to.equal(0);
    }
  }).timeout(60_000);

  it('bills the month that was shared again as it was, when it is void', async () => {
    const { body } = await tenant
      .get(`${external}/invoices?fromDate=2020-01-01&size=20`)
      .expect(200);
    const ofMay = (body.data.content as { Id: string; AccountName: string }[]).filter(
      ({ AccountName }) => AccountName !== 'acme',
    );
    expect(ofMay).to.have.length(2);
    await share({ [ids.get('north') ?? '']: 2, [ids.get('south') ?? '']: 1 });
    for (const { Id } of ofMay) await tenant.post(`/v1/invoices/${Id}/void`).expect(200);
    expect(await linesOf(await runMonth(5))).to.deep.equal(billed.get(5));
  });
});
