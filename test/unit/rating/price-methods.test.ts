import { assert } from 'chai';
import { Decimal, decimalText } from '../../../src/kernel/numbers/money.js';
import { priceMethods, type RowFacts } from '../../../src/rating/index.js';
import { tiered } from '../../../src/rating/price-methods/tiered.js';
import { anEvent, amountOf, aRow, rate, rateAmount, tiers, withRows } from './facts.js';
import { decimal, type TierText } from './facts.js';

function priceOf(row: RowFacts, quantity: string): string {
  return rateAmount({ dimensions: { api_calls: quantity } }, withRows([row]));
}

describe('rating/price methods', () => {
  const simple: [method: string, rates: object, quantity: string, expected: string][] = [
    ['FLAT_RATE', { flatRate: '9.99' }, '1', '9.99'],
    ['FLAT_RATE', { flatRate: '9.99' }, '1000', '9.99'],
    ['FLAT_RATE', { flatRate: '9.99' }, '0', '9.99'],
    // 0.015 * 3 = 0.045
    ['QUANTITY', { unitRate: '0.015' }, '3', '0.045'],
    ['QUANTITY', { unitRate: '0.015' }, '0', '0'],
    // 0.1 * 0.2 = 0.02, where floats give 0.020000000000000004
    ['QUANTITY', { unitRate: '0.1' }, '0.2', '0.02'],
    // 1e-10 * 0.5 = 5e-11, which rounds to 1e-10 at 10 places
    ['QUANTITY', { unitRate: '0.0000000001' }, '0.5', '0.0000000001'],
    ['QUANTITY', { unitRate: '0.0000000001' }, '0.4', '0'],
    [
      'QUANTITY',
      { unitRate: '3' },
      '12345678901234567890123456789',
      '37037036703703703670370370367',
    ],
    ['QUANTITY', { unitRate: '-2' }, '3', '-6'],
    // 2.5 / 100 * 200 = 5
    ['AMOUNT', { percentageRate: '2.5' }, '200', '5'],
    // 0.333 / 100 * 10 = 0.0333
    ['AMOUNT', { percentageRate: '0.333' }, '10', '0.0333'],
    ['NO_PRICE', {}, '5', '0'],
  ];
  for (const [method, rates, quantity, expected] of simple) {
    // spec/rating.md R24 to R27
    it(`${method} ${JSON.stringify(rates)} of ${quantity} is ${expected}`, () => {
      assert.equal(priceOf(aRow('api_calls', method, rates), quantity), expected);
    });
  }

  const graduated: TierText[] = [
    ['0', '100', '0'],
    ['100', '1000', '0.05'],
    ['1000', null, '0.02'],
  ];
  const wholeNumbers: TierText[] = [
    ['1', '100', '0.10'],
    ['101', '200', '0.05'],
    ['201', null, '0.01'],
  ];
  const bands: TierText[] = [
    ['0', '10', '5', 'flat'],
    ['10', '20', '8', 'flat'],
    ['20', null, '0.5'],
  ];
  const closed: TierText[] = [
    ['0', '10', '1'],
    ['10', '50', '2'],
  ];
  const fromTen: TierText[] = [
    ['10', '20', '1'],
    ['20', null, '3'],
  ];
  const single: TierText[] = [
    ['1', '1', '7', 'flat'],
    ['2', '2', '3'],
    ['3', null, '1'],
  ];
  const tierCases: [name: string, of: TierText[], quantity: string, expected: string][] = [
    ['free band, zero', graduated, '0', '0'],
    ['free band, just below its end', graduated, '99.999', '0'],
    ['free band, at its end', graduated, '100', '0'],
    // 1 * 0.05
    ['free band, just above', graduated, '101', '0.05'],
    // 0.001 * 0.05 = 0.00005
    ['free band, a thousandth above', graduated, '100.001', '0.00005'],
    // 899 * 0.05 = 44.95
    ['second tier, just below its end', graduated, '999', '44.95'],
    // 900 * 0.05 = 45
    ['second tier, at its end', graduated, '1000', '45'],
    // 45 + 1 * 0.02
    ['third tier, just above its start', graduated, '1001', '45.02'],
    // 45 + 999000 * 0.02 = 45 + 19980
    ['third tier, far above', graduated, '1000000', '20025'],
    // the first tier of 1 starts at zero: 0.5 * 0.10
    ['whole numbers, below 1', wholeNumbers, '0.5', '0.05'],
    ['whole numbers, at 1', wholeNumbers, '1', '0.1'],
    ['whole numbers, at 100', wholeNumbers, '100', '10'],
    // the boundary is 100, not 101: 10 + 0.5 * 0.05 = 10.025
    ['whole numbers, between 100 and 101', wholeNumbers, '100.5', '10.025'],
    ['whole numbers, at 101', wholeNumbers, '101', '10.05'],
    // 10 + 100 * 0.05 + 100 * 0.01 = 16
    ['whole numbers, at 300', wholeNumbers, '300', '16'],
    ['flat bands, zero enters none', bands, '0', '0'],
    ['flat bands, barely in the first', bands, '0.001', '5'],
    ['flat bands, at the end of the first', bands, '10', '5'],
    // 5 + 8
    ['flat bands, just above the first', bands, '10.001', '13'],
    ['flat bands, at the end of the second', bands, '20', '13'],
    // 5 + 8 + 2 * 0.5
    ['flat bands, into the unit tier', bands, '22', '14'],
    // 10 * 1 + 40 * 2
    ['closed, at its end', closed, '50', '90'],
    ['closed, just above its end', closed, '50.001', 'VOLUME_ABOVE_TIERS'],
    ['start at 10, below', fromTen, '9', '0'],
    ['start at 10, at the start', fromTen, '10', '0'],
    ['start at 10, just above', fromTen, '11', '1'],
    // 10 * 1 + 5 * 3
    ['start at 10, in the second tier', fromTen, '25', '25'],
    ['tiers of a single unit, the first', single, '1', '7'],
    // 7 + 1 * 3
    ['tiers of a single unit, the second', single, '2', '10'],
    // 7 + 3 + 2 * 1
    ['tiers of a single unit, beyond', single, '4', '12'],
  ];
  for (const [name, of, quantity, expected] of tierCases) {
    // spec/rating.md R28 to R30
    it(`TIERED ${name}: ${quantity} costs ${expected}`, () => {
      assert.equal(priceOf(aRow('api_calls', 'TIERED', tiers(...of)), quantity), expected);
    });
  }

  const rates: [method: string, rates: object, quantity: string, expected: string][] = [
    ['FLAT_RATE', { flatRate: '9.99' }, '3', '9.99'],
    ['QUANTITY', { unitRate: '0.015' }, '3', '0.015'],
    ['AMOUNT', { percentageRate: '2.5' }, '3', '2.5'],
    ['NO_PRICE', {}, '3', '0'],
    // (100 * 0 + 200 * 0.05) / 300 = 10 / 300 = 0.03333...
    ['TIERED', tiers(...graduated), '300', '0.0333333333'],
    ['TIERED', tiers(...graduated), '0', '0'],
  ];
  for (const [method, given, quantity, expected] of rates) {
    it(`the rate of ${method} for ${quantity} is ${expected}`, () => {
      const event = anEvent({ dimensions: { api_calls: quantity } });
      const rated = rate(event, withRows([aRow('api_calls', method, given)]));
      assert.equal(
        rated.ok && decimalText(rated.transactions[0]?.dimensions[0]?.rate ?? decimal('-1')),
        expected,
      );
    });
  }

  const checked: [name: string, of: TierText[], expected: string[]][] = [
    ['adjoining', graduated, []],
    ['whole numbers', wholeNumbers, []],
    ['a closed last tier', closed, []],
    ['single units', single, []],
    [
      'mixed writing',
      [
        ['0', '10', '1'],
        ['11', '20', '1'],
        ['20', null, '1'],
      ],
      [],
    ],
    [
      'a gap',
      [
        ['0', '10', '1'],
        ['12', null, '1'],
      ],
      ['tierMinVal of tier 2 must be 10 or 11, to adjoin the tier before'],
    ],
    [
      'a gap of a half',
      [
        ['0', '10', '1'],
        ['10.5', null, '1'],
      ],
      ['tierMinVal of tier 2 must be 10 or 11, to adjoin the tier before'],
    ],
    [
      'an overlap',
      [
        ['0', '10', '1'],
        ['9', null, '1'],
      ],
      ['tierMinVal of tier 2 must be 10 or 11, to adjoin the tier before'],
    ],
    [
      'an open tier in the middle',
      [
        ['0', null, '1'],
        ['10', null, '1'],
      ],
      ['tierMaxVal of tier 1 may not be open: only the last may be'],
    ],
    [
      'an empty tier',
      [
        ['0', '10', '1'],
        ['10', '10', '1'],
        ['10', null, '1'],
      ],
      ['tierMaxVal of tier 2 must be greater than 10'],
    ],
    [
      'an inverted first tier',
      [['10', '5', '1']],
      ['tierMaxVal of tier 1 must be greater than 10'],
    ],
    ['an empty first tier', [['0', '0', '1']], ['tierMaxVal of tier 1 must be greater than 0']],
  ];
  for (const [name, of, expected] of checked) {
    // spec/rating.md R32
    it(`the check of tiers with ${name}`, () => {
      assert.deepEqual(tiered.check(toRates(of)), expected);
    });
  }

  // spec/rating.md R32
  it('the check of tiers wants them in the order of tierNum', () => {
    const { rateCardTiers } = toRates(graduated);
    const renumbered = rateCardTiers.map((tier, index) => ({
      ...tier,
      tierNum: [1, 3, 3][index] ?? 0,
    }));
    assert.deepEqual(tiered.check({ rateCardTiers: renumbered }), [
      'tier 3 must not come after tier 3: order tiers by tierNum',
    ]);
  });

  it('those of the specification are known by their names, and no name is of two', () => {
    const names: string[] = priceMethods.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.includeMembers(names, ['FLAT_RATE', 'TIERED', 'QUANTITY', 'AMOUNT', 'NO_PRICE']);
  });

  const unreadable: [name: string, row: RowFacts][] = [
    ['no rate', aRow('api_calls', 'QUANTITY', {})],
    ['the rate of another method', aRow('api_calls', 'QUANTITY', { flatRate: '1' })],
    ['a rate that is no number', aRow('api_calls', 'QUANTITY', { unitRate: 'dear' })],
    ['a binary float', aRow('api_calls', 'QUANTITY', { unitRate: 0.1 })],
    ['null', aRow('api_calls', 'QUANTITY', null)],
    ['tiers that are no list', aRow('api_calls', 'TIERED', { rateCardTiers: {} })],
    ['an unknown method', aRow('api_calls', 'MAGIC', { unitRate: '1' })],
  ];
  for (const [name, row] of unreadable) {
    it(`stored rates with ${name} reject the event`, () => {
      assert.equal(amountOf(rate(anEvent(), withRows([row]))), 'NO_RATE_CARD');
    });
  }
});

function toRates(of: TierText[]) {
  return {
    rateCardTiers: of.map(([min, max, unitRate, flat], index) => ({
      tierNum: index + 1,
      tierMinVal: new Decimal(min),
      tierMaxVal: max === null ? null : new Decimal(max),
      tierUnitRate: new Decimal(unitRate),
      flatRate: flat === 'flat',
    })),
  };
}
