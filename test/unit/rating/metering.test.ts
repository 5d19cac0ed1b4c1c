import { assert } from 'chai';
import {
  counterKey,
  prepare,
  ratePrepared,
  type RatingContext,
  type RowFacts,
} from '../../../src/rating/index.js';
import { aContext, aLine, aLogic, aMeter, amountOf, anAttribute, anEvent, aRow } from './facts.js';
import { aService, decimal, rate, tiers, withRows, type Counters } from './facts.js';

/** 100 free, then 0.10 each up to 200, then a band of 5 up to 300, then 0.01 each. */
const stairs = tiers(
  ['0', '100', '0'],
  ['100', '200', '0.10'],
  ['200', '300', '5', 'flat'],
  ['300', null, '0.01'],
);
const metered = (resetFrequency: string | null = 'Monthly') => ({
  attributes: [aMeter('api_calls', resetFrequency), anAttribute('region', 'INPUT')],
});

/** Rates events of [time or null, quantity] in turn; the amounts. */
function rateAll(
  context: RatingContext,
  usages: [at: string | null, quantity: string][],
): string[] {
  const counters: Counters = new Map();
  return usages.map(([at, quantity]) => {
    const eventTimestamp = at ?? '2024-03-15T12:00:00Z';
    const event = anEvent({ eventTimestamp, dimensions: { api_calls: quantity } });
    return amountOf(rate(event, context, counters));
  });
}

describe('rating/metering', () => {
  const sequences: [name: string, quantities: string[], expected: string[]][] = [
    ['the free band runs out', ['60', '40', '1'], ['0', '0', '0.1']],
    // 50 free + 50 free + 50 * 0.10; then 50 * 0.10
    ['an event across a bound', ['50', '100', '50'], ['0', '5', '5']],
    // whole: 100 * 0.10 + 5 + 100 * 0.01 = 16
    ['at once', ['400'], ['16']],
    [
      'to the flat band, into it, within it, out of it',
      ['200', '1', '99', '100'],
      ['10', '5', '0', '1'],
    ],
    ['zero enters nothing', ['200', '0', '1'], ['10', '0', '5']],
    ['across the flat band', ['199', '102'], ['9.9', '5.11']],
  ];
  for (const [name, quantities, expected] of sequences) {
    // spec/rating.md R30, R33
    it(`${name}: ${quantities.join(', ')}`, () => {
      const context = withRows([aRow('api_calls', 'TIERED', stairs)], metered());
      assert.deepEqual(
        rateAll(
          context,
          quantities.map((quantity) => [null, quantity]),
        ),
        expected,
      );
    });
  }

  it('not metered, each event begins at zero', () => {
    const context = withRows([aRow('api_calls', 'TIERED', stairs)]);
    assert.deepEqual(
      rateAll(context, [
        [null, '101'],
        [null, '101'],
      ]),
      ['0.1', '0.1'],
    );
  });

  // spec/rating.md R31
  it('a closed last tier rejects what goes above it, and the counter stays', () => {
    const context = withRows([aRow('api_calls', 'TIERED', tiers(['0', '10', '1']))], metered());
    assert.deepEqual(
      rateAll(context, [
        [null, '9'],
        [null, '2'],
        [null, '1'],
        [null, '0'],
      ]),
      ['9', 'VOLUME_ABOVE_TIERS', '1', '0'],
    );
  });

  it('a quantity of zero is not above a closed last tier, even where the counter is', () => {
    const row = aRow('api_calls', 'TIERED', tiers(['0', '10', '1']));
    const context = withRows([row], metered());
    const prices = ['0', '0.001'].map((quantity) => {
      const prepared = prepare(anEvent({ dimensions: { api_calls: quantity } }), context);
      const beyond = { get: () => decimal('20') };
      return amountOf(prepared.ok ? ratePrepared(prepared, beyond) : prepared);
    });
    assert.deepEqual(prices, ['0', 'VOLUME_ABOVE_TIERS']);
  });

  // 100 units each: free when a period begins, 0.10 each (10) when it is the second of its period.
  const resets: [frequency: string | null, first: string, second: string, expected: string][] = [
    ['Daily', '2024-03-15T00:00:00Z', '2024-03-15T23:59:59.999Z', '10'],
    ['Daily', '2024-03-15T23:59:59.999Z', '2024-03-16T00:00:00Z', '0'],
    ['Weekly', '2024-03-11T00:00:00Z', '2024-03-17T23:59:59Z', '10'],
    ['Weekly', '2024-03-17T23:59:59Z', '2024-03-18T00:00:00Z', '0'],
    ['Fortnightly', '2024-03-11T00:00:00Z', '2024-03-24T23:59:59Z', '10'],
    ['Fortnightly', '2024-03-10T23:59:59Z', '2024-03-11T00:00:00Z', '0'],
    ['Monthly', '2024-02-01T00:00:00Z', '2024-02-29T23:59:59Z', '10'],
    ['Monthly', '2024-02-29T23:59:59Z', '2024-03-01T00:00:00Z', '0'],
    ['Quarterly', '2024-01-01T00:00:00Z', '2024-03-31T23:59:59Z', '10'],
    ['Quarterly', '2024-03-31T23:59:59Z', '2024-04-01T00:00:00Z', '0'],
    ['Half Yearly', '2024-01-01T00:00:00Z', '2024-06-30T23:59:59Z', '10'],
    ['Half Yearly', '2024-06-30T23:59:59Z', '2024-07-01T00:00:00Z', '0'],
    ['Yearly', '2024-01-01T00:00:00Z', '2024-12-31T23:59:59Z', '10'],
    ['Yearly', '2024-12-31T23:59:59Z', '2025-01-01T00:00:00Z', '0'],
    [null, '1999-01-01T00:00:00Z', '2024-03-15T00:00:00Z', '10'],
    // An offset decides the period: 01:00 at +02:00 on 1 March is 29 February in UTC.
    ['Monthly', '2024-02-01T00:00:00Z', '2024-03-01T01:00:00+02:00', '10'],
  ];
  for (const [frequency, first, second, expected] of resets) {
    // spec/rating.md R35, R36
    it(`${frequency ?? 'no reset'}: ${first} then ${second}`, () => {
      const context = withRows([aRow('api_calls', 'TIERED', stairs)], metered(frequency));
      assert.deepEqual(
        rateAll(context, [
          [first, '100'],
          [second, '100'],
        ]),
        ['0', expected],
      );
    });
  }

  // spec/rating.md R37
  it('a late event counts in its own period', () => {
    const context = withRows([aRow('api_calls', 'TIERED', stairs)], metered());
    const usages: [string, string][] = [
      ['2024-02-10T00:00:00Z', '100'],
      ['2024-03-10T00:00:00Z', '50'],
      ['2024-02-29T23:59:59Z', '10'],
      ['2024-03-11T00:00:00Z', '60'],
    ];
    // February: 10 above the free 100. March: 50 + 60 = 110, 10 above.
    assert.deepEqual(rateAll(context, usages), ['0', '0', '1', '1']);
  });

  const overrides: [
    name: string,
    row: string | undefined,
    attribute: string | null,
    expected: string,
  ][] = [
    ["the row's frequency", 'Daily', 'Yearly', 'Daily 2024-03-15 2024-03-16'],
    ["the attribute's frequency", undefined, 'Yearly', 'Yearly 2024-01-01 2025-01-01'],
    ['neither', undefined, null, 'none 0001-01-01 9999-12-31'],
  ];
  for (const [name, resetFrequency, attribute, expected] of overrides) {
    // spec/rating.md R35
    it(`period: ${name}`, () => {
      const rates = resetFrequency === undefined ? stairs : { ...stairs, resetFrequency };
      const prepared = prepare(
        anEvent(),
        withRows([aRow('api_calls', 'TIERED', rates)], metered(attribute)),
      );
      assert.isTrue(prepared.ok);
      const [key] = prepared.ok ? prepared.counterKeys : [];
      assert.equal(`${key?.frequency} ${key?.periodStart} ${key?.periodEnd}`, expected);
    });
  }

  it("a row's frequency does not make an attribute metered", () => {
    const row = aRow('api_calls', 'TIERED', { ...stairs, resetFrequency: 'Daily' });
    const prepared = prepare(anEvent(), withRows([row]));
    assert.deepEqual(prepared.ok && prepared.counterKeys, []);
  });

  it('an unknown frequency rejects the event instead of counting for ever', () => {
    const context = withRows([aRow('api_calls', 'TIERED', stairs)], metered('Bimonthly'));
    assert.deepEqual(rateAll(context, [[null, '1']]), ['NO_RATE_CARD']);
  });

  const methods: [row: RowFacts, expected: string[]][] = [
    [aRow('api_calls', 'FLAT_RATE', { flatRate: '3' }), ['3', '3']],
    [aRow('api_calls', 'QUANTITY', { unitRate: '2' }), ['20', '20']],
    [aRow('api_calls', 'AMOUNT', { percentageRate: '50' }), ['5', '5']],
    [aRow('api_calls', 'NO_PRICE', {}), ['0', '0']],
  ];
  for (const [row, expected] of methods) {
    // spec/rating.md R38
    it(`metering does not change ${row.priceMethod}, and the counter still counts`, () => {
      const context = withRows([row], metered());
      const counters: Counters = new Map();
      const event = anEvent({ dimensions: { api_calls: '10' } });
      assert.deepEqual(
        [1, 2].map(() => amountOf(rate(event, context, counters))),
        expected,
      );
      assert.deepEqual([...counters.values()].map(String), ['20']);
    });
  }

  describe('owner', () => {
    const service = aService(metered());
    const keyOf = (context: RatingContext) => {
      const prepared = prepare(anEvent(), context);
      if (!prepared.ok) throw new Error(prepared.message);
      return prepared.counterKeys.map(counterKey).join();
    };
    const end = `${service.id}/Monthly/2024-03-01/api_calls`;

    // spec/rating.md R33
    it('the line, else the account', () => {
      assert.equal(keyOf(aContext({ service })), `account/account-1/${end}`);
      assert.equal(keyOf(aContext({ service, lines: [aLine('l-1')] })), `line/l-1/${end}`);
    });

    it('the counter goes on when the attribute was replaced by one of the same name', () => {
      const replaced = aService({ attributes: [{ ...aMeter('api_calls'), id: 'new' }] });
      assert.equal(keyOf(aContext({ service: replaced })), keyOf(aContext({ service })));
    });
  });

  it('rows of one attribute share its counter', () => {
    const rows = ['eu', 'us'].map((region) =>
      aRow('api_calls', 'TIERED', stairs, { when: { region } }),
    );
    const context = withRows(rows, metered());
    const counters: Counters = new Map();
    const amounts = ['eu', 'us'].map((region) =>
      amountOf(rate(anEvent({ dimensions: { api_calls: '100', region } }), context, counters)),
    );
    assert.deepEqual(amounts, ['0', '10']);
  });

  describe('with pricing logic', () => {
    const row = aRow('api_calls', 'TIERED', stairs);
    const run = (logics: ReturnType<typeof aLogic>[], before = '0', more: object = {}) => {
      const context = withRows([row], { ...metered(), logics, ...more });
      const event = anEvent({ dimensions: { api_calls: '100' } });
      const key = `account/account-1/${context.service?.id}/Monthly/2024-03-01/api_calls`;
      const counters: Counters = new Map([[key, decimal(before)]]);
      const rated = rate(event, context, counters);
      return { rated, amount: amountOf(rated), counter: counters.get(key)?.toFixed() };
    };

    it('a counter is moved by Price(), by the quantity it is asked for', () => {
      // Price of the 50 after 100: 50 * 0.10
      const { amount, counter } = run(
        [aLogic({ price: 'Price(api_calls, api_calls / 2)' }, 'price')],
        '100',
      );
      assert.deepEqual([amount, counter], ['5', '150']);
    });

    it('a counter is not moved by a formula that does not price', () => {
      const { amount, counter } = run([aLogic({ price: 'api_calls * 2' }, 'price')], '7');
      assert.deepEqual([amount, counter], ['200', '7']);
    });

    it('a second Price() of one logic goes on where the first stopped', () => {
      // 60 free; then 40 free and 20 * 0.10 = 2. One dimension: 120 units for 2.
      const steps = {
        first: 'Price(api_calls, 60)',
        second: 'Price(api_calls, 60)',
        both: 'first + second',
      };
      const { rated, amount, counter } = run([aLogic(steps, 'both')]);
      assert.deepEqual([amount, counter], ['2', '120']);
      const dimensions = rated.ok ? (rated.transactions[0]?.dimensions ?? []) : [];
      assert.deepEqual(
        dimensions.map(({ volume, calcAmount, rate: average, counter: moved }) => [
          volume.toFixed(),
          calcAmount.toFixed(),
          average.toFixed(),
          moved?.before.toFixed(),
          moved?.after.toFixed(),
        ]),
        // 2 / 120 = 0.016666...
        [['120', '2', '0.0166666667', '0', '120']],
      );
    });

    for (const [first, second] of [
      ['30', '20'],
      ['20', '30'],
    ]) {
      it(`of two logics that price ${first} and ${second}, the counter follows the larger`, () => {
        const logics = [first, second].map((quantity) =>
          aLogic({ price: `Price(api_calls, ${quantity})` }, 'price'),
        );
        assert.equal(run(logics, '7').counter, '37');
      });
    }

    // spec/beyond.md R312: from 100, 60 is 40 away and 30 is 70; 130 is 30 away.
    for (const [first, second, expected] of [
      ['60', '30', '30'],
      ['30', '60', '30'],
      ['100', '30', '30'],
      ['130', '60', '60'],
      ['130', '70', '130'],
      ['70', '130', '130'],
    ] as const) {
      it(`of two logics that price LAST ${first} and ${second} behind 100, the counter follows the one that goes further`, () => {
        const logics = [first, second].map((quantity) =>
          aLogic({ price: `Price(api_calls, ${quantity})` }, 'price'),
        );
        const last = { ...aMeter('api_calls'), aggregation: 'LAST' as const };
        assert.equal(run(logics, '100', { attributes: [last] }).counter, expected);
      });
    }

    it('two logics price the same usage: each from the counter before the event', () => {
      // Charge: 100 after 100 at 0.10 = 10. Payout: 70 % of the same. The usage happened once.
      const charge = aLogic({ price: 'Price(api_calls, api_calls)' }, 'price', { seqNo: 1 });
      const payout = aLogic({ share: 'Price(api_calls, api_calls) * 0.7' }, 'share', {
        seqNo: 2,
        usageType: 'Payout',
      });
      const { amount, counter } = run([charge, payout], '100');
      assert.deepEqual([amount, counter], ['10 and 7', '200']);
    });
  });
});
