import { assert } from 'chai';
import type { RatingContext, RowFacts } from '../../../src/rating/index.js';
import { aContext, aLine, anAttribute, anEvent, aRow, aService, amountOf } from './facts.js';
import { rate, rateAmount, rejectionOf, withRows } from './facts.js';

const flat = (flatRate: string, more: Parameters<typeof aRow>[3] = {}): RowFacts =>
  aRow('api_calls', 'FLAT_RATE', { flatRate }, more);

describe('rating/dimensions, quantities, rows', () => {
  const attributes = [
    anAttribute('api_calls'),
    anAttribute('storage'),
    anAttribute('region', 'INPUT'),
    anAttribute('level', 'INPUT', { dataType: 'Number' }),
    anAttribute('payer', 'TRANSACTION'),
  ];
  const rows = [flat('1'), flat('2', { when: { zone: 'x' } })];
  const dimensionCases: [name: string, dimensions: Record<string, string>, expected: string][] = [
    ['an input attribute', { api_calls: '1', region: 'eu' }, '1'],
    ['a transaction attribute', { api_calls: '1', payer: 'p' }, '1'],
    ['a name that only the card uses', { api_calls: '1', zone: 'y' }, '1'],
    ['an unknown name', { api_calls: '1', regoin: 'eu' }, 'UNKNOWN_DIMENSION'],
    ['a name in another letter case', { API_Calls: '1' }, 'UNKNOWN_DIMENSION'],
    ['a name of Object.prototype', { api_calls: '1', constructor: '1' }, 'UNKNOWN_DIMENSION'],
    ['a text for a number', { api_calls: 'many' }, 'INVALID_DIMENSION'],
    ['an empty text for a number', { api_calls: '' }, 'INVALID_DIMENSION'],
    ['39 digits', { api_calls: '1'.repeat(39) }, 'INVALID_DIMENSION'],
    ['a negative quantity', { api_calls: '-1' }, 'INVALID_DIMENSION'],
    ['minus zero', { api_calls: '-0' }, '1'],
    ['a text for a number input', { api_calls: '1', level: 'x' }, 'INVALID_DIMENSION'],
    ['a negative number input', { api_calls: '1', level: '-3' }, '1'],
    ['nothing priceable given, of two', { region: 'eu' }, 'NO_MATCHING_ROW'],
    ['only one without a row given', { storage: '1' }, 'NO_MATCHING_ROW'],
  ];
  for (const [name, dimensions, expected] of dimensionCases) {
    // spec/rating.md R18, R19, R21, R41, R42
    it(`dimension: ${name}`, () => {
      assert.equal(rateAmount({ dimensions }, withRows(rows, { attributes })), expected);
    });
  }

  // spec/rating.md R18
  it('names the unknown dimension', () => {
    const rated = rate(anEvent({ dimensions: { regoin: 'eu' } }), withRows(rows, { attributes }));
    assert.match(
      rejectionOf(rated),
      /^UNKNOWN_DIMENSION: Dimension 'regoin' is no attribute of service 'Messaging'/,
    );
  });

  it("knows the line's own attributes", () => {
    const lines = [aLine('a', { attributes: [anAttribute('seats', 'INPUT')] })];
    assert.equal(
      rateAmount({ dimensions: { api_calls: '1', seats: 'x' } }, aContext({ lines })),
      '0.01',
    );
  });

  const unit = [aRow('api_calls', 'QUANTITY', { unitRate: '1' })];
  const textual = [anAttribute('api_calls', 'PRICEABLE', { dataType: 'String' })];
  const quantityCases: [
    name: string,
    message: Record<string, unknown>,
    service: object,
    expected: string,
  ][] = [
    ['the dimension', { dimensions: { api_calls: '7' } }, {}, '7'],
    [
      'the dimension before message.quantity',
      { dimensions: { api_calls: '7' }, quantity: 3 },
      {},
      '7',
    ],
    [
      'the only priceable attribute: message.quantity',
      { dimensions: { region: 'eu' }, quantity: 3 },
      {},
      '3',
    ],
    ['the only priceable attribute: 1', { dimensions: { region: 'eu' } }, {}, '1'],
    [
      'a zero dimension is no missing one',
      { dimensions: { api_calls: '0' }, quantity: 3 },
      {},
      '0',
    ],
    [
      'a text attribute that reads as a number',
      { dimensions: { api_calls: '7' }, quantity: 3 },
      { attributes: textual },
      '7',
    ],
    [
      'a text attribute that does not',
      { dimensions: { api_calls: 'gold' }, quantity: 3 },
      { attributes: textual },
      '3',
    ],
    [
      'a text attribute that is negative',
      { dimensions: { api_calls: '-7' } },
      { attributes: textual },
      'INVALID_DIMENSION',
    ],
  ];
  for (const [name, message, service, expected] of quantityCases) {
    // spec/rating.md R20, R41
    it(`quantity: ${name}`, () => {
      assert.equal(rateAmount(message, withRows(unit, service)), expected);
    });
  }

  // spec/rating.md R41
  it("the service's only priceable attribute is priced although the line adds another", () => {
    const lines = [aLine('a', { attributes: [anAttribute('seats')] })];
    assert.equal(rateAmount({ dimensions: { region: 'eu' } }, aContext({ lines })), '0.01');
  });

  const eu = { when: { region: 'eu' } };
  const rowCases: [
    name: string,
    rows: RowFacts[],
    dimensions: Record<string, string>,
    expected: string,
  ][] = [
    ['no condition', [flat('1')], { region: 'eu' }, '1'],
    [
      'the one that matches',
      [flat('1', { when: { region: 'us' } }), flat('2', eu)],
      { region: 'eu' },
      '2',
    ],
    [
      'the most conditions',
      [flat('1'), flat('2', eu), flat('3', { when: { region: 'eu', level: '1' } })],
      { region: 'eu', level: '1' },
      '3',
    ],
    [
      'fewer conditions when the longer fails',
      [flat('1'), flat('2', eu), flat('3', { when: { region: 'eu', level: '1' } })],
      { region: 'eu', level: '2' },
      '2',
    ],
    ['the general one when none matches', [flat('2', eu), flat('1')], { region: 'us' }, '1'],
    [
      'the first of a tie',
      [flat('1', eu), flat('2', { when: { level: '1' } })],
      { region: 'eu', level: '1' },
      '1',
    ],
    ['numbers by value', [flat('1', { when: { level: '1.0' } })], { level: '1' }, '1'],
    [
      'texts as they are',
      [flat('1', { when: { region: '1.0' } })],
      { region: '1' },
      'NO_MATCHING_ROW',
    ],
    ['letter case counts', [flat('1', eu)], { region: 'EU' }, 'NO_MATCHING_ROW'],
    ['a condition that the event does not give', [flat('1', eu)], {}, 'NO_MATCHING_ROW'],
  ];
  for (const [name, given, dimensions, expected] of rowCases) {
    // spec/rating.md R22, R23
    it(`row: ${name}`, () => {
      const context = withRows(given, { attributes });
      assert.equal(
        rateAmount({ dimensions: { api_calls: '1', ...dimensions } }, context),
        expected,
      );
    });
  }

  // spec/rating.md R22
  it('names what no row matches', () => {
    const rated = rate(
      anEvent({ dimensions: { api_calls: '1', region: 'eu' } }),
      withRows([flat('1', { when: { region: 'us' } })]),
    );
    assert.equal(
      rejectionOf(rated),
      "NO_MATCHING_ROW: No rate-card row of 'api_calls' matches region=eu",
    );
  });

  describe('what becomes one transaction', () => {
    const both = { attributes, logics: [] };
    const event = anEvent({ dimensions: { api_calls: '10', storage: '4' }, quantity: 99 });
    const storage = (more: Parameters<typeof aRow>[3] = {}) =>
      aRow('storage', 'QUANTITY', { unitRate: '2' }, more);
    const calls = (more: Parameters<typeof aRow>[3] = {}) =>
      aRow('api_calls', 'QUANTITY', { unitRate: '0.5' }, more);
    const summary = (context: RatingContext) => {
      const rated = rate(event, context);
      if (!rated.ok) return rejectionOf(rated);
      return rated.transactions.map((each) => [
        each.usageType,
        each.billedAccountId,
        each.amount.toFixed(),
        each.quantity.toFixed(),
        each.dimensions.length,
      ]);
    };

    // spec/rating.md R51
    it('rows of one usage type and account are summed', () => {
      // 10 * 0.5 + 4 * 2 = 13; two kinds of units, so the event's own quantity
      assert.deepEqual(summary(withRows([calls(), storage()], both)), [
        ['Charge', 'account-1', '13', '99', 2],
      ]);
    });

    // spec/rating.md R51
    it('a charge and a payout are two transactions', () => {
      const context = withRows(
        [calls(), storage({ usageType: 'Payout', billingAccountId: 'partner' })],
        both,
      );
      assert.deepEqual(summary(context), [
        ['Charge', 'account-1', '5', '10', 1],
        ['Payout', 'partner', '8', '4', 1],
      ]);
    });

    // spec/rating.md R52
    it("a row that bills another account, and one that names the event's own", () => {
      const rows = [
        calls({ billingAccountId: 'account-1' }),
        storage({ billingAccountId: 'parent' }),
      ];
      assert.deepEqual(summary(withRows(rows, both)), [
        ['Charge', 'account-1', '5', '10', 1],
        ['Charge', 'parent', '8', '4', 1],
      ]);
    });

    // spec/rating.md R53
    it('the calcAmounts of a transaction sum to its amount, which is rounded once', () => {
      // 3 * 1.7e-11 = 5.1e-11; 4 * 1.3e-11 = 5.2e-11; together 1.03e-10, so 1e-10,
      // where each alone would round up to 1e-10. It goes to the larger remainder.
      const rows = [
        aRow('api_calls', 'QUANTITY', { unitRate: '0.000000000017' }),
        aRow('storage', 'QUANTITY', { unitRate: '0.000000000013' }),
      ];
      const rated = rate(
        anEvent({ dimensions: { api_calls: '3', storage: '4' } }),
        withRows(rows, both),
      );
      assert.equal(amountOf(rated), '0.0000000001');
      assert.deepEqual(
        rated.ok && rated.transactions[0]?.dimensions.map(({ calcAmount }) => calcAmount.toFixed()),
        ['0', '0.0000000001'],
      );
    });
  });

  it('rates a service without INPUT attributes, cards with many versions and a deleted attribute', () => {
    const service = aService({ attributes: [anAttribute('api_calls')] });
    assert.equal(rateAmount({}, aContext({ service })), '1');
  });
});
