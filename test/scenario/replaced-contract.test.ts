import { expect } from 'chai';
import { invoicesOf, itemLines, runBilling } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { createAccount, createService, rate, tiers, usage } from '../support/billing/usage.js';

const charged = (serviceType: string, label: string, unitRate: number) => ({
  serviceType,
  priceableAttributes: [{ name: label, dimensionDataType: 'Number' }],
  rateCards: [
    { currency: 'USD', rows: [{ priceDimName: label, label, priceMethod: 'QUANTITY', unitRate }] },
  ],
});

/** The first 100 of a month at 1, the others at 0.5. */
const metered = {
  priceableAttributes: [
    {
      name: 'api_calls',
      dimensionDataType: 'Number',
      isMeterDimension: true,
      meterResetFrequency: 'Monthly',
    },
  ],
  rateCards: [
    {
      currency: 'USD',
      rows: [
        { priceDimName: 'api_calls', label: 'API calls', ...tiers([0, 100, 1], [100, null, 0.5]) },
      ],
    },
  ],
};

interface Line {
  readonly id?: string;
  readonly serviceId: string;
  readonly startDate: string | null;
}

interface ContractBody {
  readonly id: string;
  readonly services: readonly Line[];
  readonly [field: string]: unknown;
}

/** Each of these replaces the lines of a contract by the same ones. */
const replacements: readonly (readonly [
  how: string,
  change: (lines: readonly Line[]) => object[],
])[] = [
  ['as they were read', (lines) => [...lines]],
  [
    'without their ids',
    (lines) => lines.map(({ serviceId, startDate }) => ({ serviceId, startDate })),
  ],
  ['in another order', (lines) => lines.map((line) => ({ ...line, id: undefined })).reverse()],
];

describe('a contract that is replaced goes on where it was', () => {
  let instance: TestInstance;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());

  const linesOf = async (tenant: TestTenant, first: string, last: string) =>
    (await invoicesOf(tenant, await runBilling(tenant, first, last))).flatMap(itemLines).sort();

  for (const [how, change] of replacements) {
    it(`charges no day, set-up fee or tier twice when its lines are put back ${how}`, async () => {
      const tenant = await instance.tenant();
      const masterAccountId = await createAccount(tenant, 'acme');
      const setup = await createService(tenant, 'Setup', charged('OTC', 'Setup', 250));
      const plan = await createService(tenant, 'Plan', charged('Subscription', 'Plan', 31));
      const calls = await createService(tenant, 'Calls', metered);
      const made = await tenant
        .post(`${external}/contracts`, {
          masterAccountId,
          name: 'C',
          startDate: '2028-01-01',
          services: [setup, plan, calls].map((serviceId) => ({ serviceId })),
        })
        .expect(201);
      const address = `${external}/contracts/${(made.body as ContractBody).id}`;
      const at = (day: string, count: string) =>
        usage('acme', calls, {
          eventTimestamp: `${day}T00:00:00Z`,
          dimensions: { api_calls: count },
        });
      const replace = async () => {
        const { body } = await tenant.get(address).expect(200);
        const read = body as ContractBody;
        await tenant
          .put(address, { ...read, description: 'Renewed', services: change(read.services) })
          .expect(200);
      };

      // 80 x 1.
      const before = await rate(tenant, at('2028-01-10', '80'));
      expect(before.ratedTransactions[0].amount).to.equal(80);
      expect(await linesOf(tenant, '2028-01-01', '2028-01-31')).to.deep.equal([
        'API calls 2028-01-10..2028-01-10 80',
        'Plan 2028-01-01..2028-01-31 31',
        'Setup 2028-01-01..2028-01-01 250',
      ]);
      await replace();
      await replace();
      // The counter stands at 80: 20 x 1 + 20 x 0.5.
      const after = await rate(tenant, at('2028-01-20', '40'));
      expect(after.ratedTransactions[0].amount).to.equal(30);
      expect(after.ratedTransactions[0].matches).to.equal(true);
      expect(await linesOf(tenant, '2028-01-01', '2028-01-31')).to.deep.equal([
        'API calls 2028-01-20..2028-01-20 30',
      ]);
      expect(await linesOf(tenant, '2028-02-01', '2028-02-29')).to.deep.equal([
        'Plan 2028-02-01..2028-02-29 31',
      ]);
    }).timeout(60_000);
  }
});
