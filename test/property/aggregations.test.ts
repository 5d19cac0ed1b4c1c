import { assert, expect } from 'chai';
import fc from 'fast-check';
import { Decimal, decimalText, sum } from '../../src/kernel/numbers/money.js';
import { meteredService, tiers, usage } from '../support/billing/usage.js';
import { useStory } from '../support/story/story.js';
import * as make from '../unit/rating/facts.js';

type Aggregated = 'MAX' | 'LAST' | 'UNIQUE';

/** Where a counter stands after each of some quantities, or values, one after the other. */
const standsAfter = (aggregation: Aggregated, quantities: readonly number[]): number[] =>
  quantities.map((quantity, index) => {
    const soFar = quantities.slice(0, index + 1);
    if (aggregation === 'UNIQUE') return new Set(soFar).size;
    return aggregation === 'LAST' ? quantity : Math.max(...soFar);
  });

const quantities = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 12 });
const aggregation = fc.constantFrom<Aggregated>('MAX', 'LAST', 'UNIQUE');
/** Few values of a dimension, so that they come again. */
const valueOf = (quantity: number): string => `user-${quantity % 7}`;

// spec/beyond.md R292
describe('property: counters that are no sums', () => {
  it('charge the price of the counter after usage, less that before, by every price method', () => {
    const rows = [
      ['QUANTITY', { unitRate: '0.07' }, (n: number) => new Decimal('0.07').times(n)],
      ['FLAT_RATE', { flatRate: '9' }, (n: number) => new Decimal(n === 0 ? 0 : 9)],
      ['AMOUNT', { percentageRate: '2.5' }, (n: number) => new Decimal('0.025').times(n)],
      [
        'PACKAGE',
        { packageSize: '7', unitRate: '1.5' },
        (n: number) => new Decimal(Math.ceil(n / 7)).times('1.5'),
      ],
      [
        'VOLUME',
        make.tiers(['0', '100', '0.2'], ['100', null, '0.1']),
        (n: number) => new Decimal(n <= 100 ? '0.2' : '0.1').times(n),
      ],
      [
        'TIERED',
        make.tiers(['0', '100', '0.2'], ['100', null, '0.1']),
        (n: number) =>
          new Decimal('0.2')
            .times(Math.min(n, 100))
            .plus(new Decimal('0.1').times(Math.max(n - 100, 0))),
      ],
    ] as const;
    fc.assert(
      fc.property(aggregation, quantities, (kind, values) => {
        for (const [method, rates, priceOf] of rows) {
          const uniqueDimension = kind === 'UNIQUE' ? 'user' : null;
          const meter = { ...make.aMeter('api_calls'), aggregation: kind, uniqueDimension };
          const row = make.aRow('api_calls', method, rates);
          const context = make.withRows([row], { attributes: [meter] });
          const counters: make.Counters = new Map();
          const counted = new Set<string>();
          const charges = values.map((value) => {
            const user = kind === 'UNIQUE' ? { user: valueOf(value) } : {};
            const event = make.anEvent({ dimensions: { api_calls: String(value), ...user } });
            return new Decimal(make.amountOf(make.rate(event, context, counters, counted)));
          });
          const ofKind = kind === 'UNIQUE' ? values.map((value) => value % 7) : values;
          const stands = standsAfter(kind, ofKind);
          for (const [index, charge] of charges.entries()) {
            const before = index === 0 ? 0 : (stands[index - 1] ?? 0);
            const expected = priceOf(stands[index] ?? 0).minus(priceOf(before));
            assert.equal(decimalText(charge), decimalText(expected), method);
          }
          assert.equal(decimalText(sum(charges)), decimalText(priceOf(stands.at(-1) ?? 0)));
        }
      }),
      { numRuns: 100 },
    );
  });

  describe('in the books', () => {
    const story = useStory({ forEachTest: true });
    const { tenant } = story;
    const kinds = ['send', 'send', 'cancel', 'amend'] as const;
    const step = (callsMax: number) =>
      fc.record({
        kind: fc.constantFrom(...kinds),
        calls: fc.integer({ min: 0, max: callsMax }),
        of: fc.nat(),
      });
    const runsOf = (callsMax: number, seed: number) =>
      fc.sample(fc.array(step(callsMax), { minLength: 8, maxLength: 14 }), { numRuns: 2, seed });
    /** 1,000 free, then 0.02 up to 10,000, then 0.01. */
    const priceOf = (n: number): Decimal =>
      new Decimal('0.02')
        .times(Math.max(Math.min(n, 10_000) - 1_000, 0))
        .plus(new Decimal('0.01').times(Math.max(n - 10_000, 0)));
    /** 2 free, then 0.50 up to 4, then 0.30. */
    const priceOfUsers = (n: number): Decimal =>
      new Decimal('0.5')
        .times(Math.max(Math.min(n, 4) - 2, 0))
        .plus(new Decimal('0.3').times(Math.max(n - 4, 0)));
    const ofUsers = {
      ...meteredService,
      rateCards: [
        {
          currency: 'USD',
          rows: [
            {
              priceDimName: 'api_calls',
              label: 'Users',
              ...tiers([0, 2, 0], [2, 4, 0.5], [4, null, 0.3]),
            },
          ],
        },
      ],
    };
    const kindsOfCounters = [
      ['MAX', meteredService, runsOf(15_000, 397), priceOf],
      ['LAST', meteredService, runsOf(15_000, 397), priceOf],
      ['UNIQUE', ofUsers, runsOf(4, 425), priceOfUsers],
    ] as const;
    for (const [kind, service, runs, price] of kindsOfCounters) {
      for (const [index, steps] of runs.entries()) {
        it(`stay exact with corrections, by ${kind} (${index})`, async () => {
          await story.account('acme');
          const [attribute] = meteredService.priceableAttributes;
          const unique = kind === 'UNIQUE' ? { uniqueDimension: 'user' } : {};
          const priceableAttributes = [{ ...attribute, aggregation: kind, ...unique }];
          const serviceId = await story.service('Seats', { ...service, priceableAttributes });
          const truth = new Map<string, number>();
          for (const [number, { kind: what, calls, of }] of steps.entries()) {
            const id = what === 'send' ? `e-${number}` : [...truth.keys()][of % (truth.size || 1)];
            if (id === undefined) continue;
            const user = kind === 'UNIQUE' ? { user: String(calls) } : {};
            const message = usage('acme', serviceId, {
              externalTransactionId: id,
              dimensions: { api_calls: String(calls), ...user },
            });
            if (what === 'send') await story.send(message);
            else {
              const more = what === 'amend' ? { message } : {};
              const path = `/v1/usage-events/${id}/${what}`;
              await tenant.post(path, { reason: 'It was wrong.', ...more }).expect(200);
            }
            if (what === 'cancel') truth.delete(id);
            else truth.set(id, calls);
          }
          const stands = standsAfter(kind, [...truth.values()]);
          for (const [at, id] of [...truth.keys()].entries()) {
            const [charge] = (await story.event(id)).ratedTransactions;
            const before = at === 0 ? 0 : (stands[at - 1] ?? 0);
            const expected = price(stands[at] ?? 0).minus(price(before));
            expect(charge.amount, id).to.equal(expected.toNumber());
            expect(charge.matches, id).to.equal(true);
          }
          const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
          const audit = await tenant
            .post('/v1/workflows/audit-usage/execute', { data })
            .expect(200);
          expect(audit.body.output).to.include({ differenceCount: 0 });
        });
      }
    }
  });
});
