import { expect } from 'chai';
import { tiers, usage } from '../support/billing/usage.js';
import { attribute, meteredByMonth, row, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

const charged = (serviceType: string, label: string, unitRate: number) =>
  subscription(label, unitRate, { serviceType, priceableAttributes: [attribute(label)] });

/** The first 100 of a month at 1, the others at 0.5. */
const metered = {
  priceableAttributes: [attribute('api_calls', meteredByMonth)],
  rateCards: [
    usdCard(row('api_calls', { label: 'API calls', ...tiers([0, 100, 1], [100, null, 0.5]) })),
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
  const story = useStory({ forEachTest: true });
  const { tenant } = story;

  for (const [how, change] of replacements) {
    it(`charges no day, set-up fee or tier twice when its lines are put back ${how}`, async () => {
      const masterAccountId = await story.account('acme');
      const setup = await story.service('Setup', charged('OTC', 'Setup', 250));
      const plan = await story.service('Plan', charged('Subscription', 'Plan', 31));
      const calls = await story.service('Calls', metered);
      const contract = await story.subscribe(masterAccountId, [setup, plan, calls], {
        startDate: '2028-01-01',
      });
      const rate = async (day: string, count: string) => {
        const eventTimestamp = `${day}T00:00:00Z`;
        const dimensions = { api_calls: count };
        const [id = ''] = await story.send(usage('acme', calls, { eventTimestamp, dimensions }));
        return story.event(id);
      };
      const replace = async () => {
        const { body } = await tenant.get(contract.path).expect(200);
        const read = body as ContractBody;
        const services = change(read.services);
        await story.changeContract(contract, { ...read, description: 'Renewed', services });
      };

      // 80 x 1.
      const before = await rate('2028-01-10', '80');
      expect(before.ratedTransactions[0].amount).to.equal(80);
      expect((await story.bill('2028-01')).lines).to.deep.equal([
        'API calls 2028-01-10..2028-01-10 80',
        'Plan 2028-01-01..2028-01-31 31',
        'Setup 2028-01-01..2028-01-01 250',
      ]);
      await replace();
      await replace();
      // The counter stands at 80: 20 x 1 + 20 x 0.5.
      const after = await rate('2028-01-20', '40');
      expect(after.ratedTransactions[0].amount).to.equal(30);
      expect(after.ratedTransactions[0].matches).to.equal(true);
      expect((await story.bill('2028-01')).lines).to.deep.equal([
        'API calls 2028-01-20..2028-01-20 30',
      ]);
      expect((await story.bill('2028-02')).lines).to.deep.equal(['Plan 2028-02-01..2028-02-29 31']);
    }).timeout(120_000);
  }
});
