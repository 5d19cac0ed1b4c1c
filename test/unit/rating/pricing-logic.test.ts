import { assert } from 'chai';
import { explain, prepare, type ChargeType, type LogicFacts } from '../../../src/rating/index.js';
import { aLine, aLogic, aMeter, amountOf, anAttribute, anEvent, aRow, rate } from './facts.js';
import { decimal, rateAmount, rejectionOf, tiers, withRows } from './facts.js';

const attributes = [
  anAttribute('api_calls'),
  anAttribute('API Calls'),
  anAttribute('region', 'INPUT'),
  anAttribute('weight', 'INPUT', { dataType: 'Number' }),
];
const rows = [
  aRow('api_calls', 'QUANTITY', { unitRate: '2' }),
  aRow('API Calls', 'QUANTITY', { unitRate: '3' }),
  aRow('api_calls', 'QUANTITY', { unitRate: '5' }, { when: { region: 'eu' } }),
];
const withLogics = (...logics: LogicFacts[]) => withRows(rows, { attributes, logics });

describe('rating/pricing logic', () => {
  const cases: [
    name: string,
    steps: Record<string, string>,
    output: string,
    message: Record<string, unknown>,
    expected: string,
  ][] = [
    // 100 * 2
    ['Price() of the quantity', { p: 'Price(api_calls, api_calls)' }, 'p', {}, '200'],
    [
      'Price() chooses the row by the event',
      { p: 'Price(api_calls, 1)' },
      'p',
      { dimensions: { region: 'eu' } },
      '5',
    ],
    [
      'a name with spaces',
      { p: 'Price(API Calls, 4) + "API Calls"' },
      'p',
      { dimensions: { 'API Calls': '1' } },
      '13',
    ],
    [
      'an attribute that the event does not give: message.quantity',
      { p: 'api_calls * 1' },
      'p',
      { dimensions: { region: 'eu' }, quantity: 6 },
      '6',
    ],
    [
      'an attribute that the event does not give: 1',
      { p: 'api_calls * 1' },
      'p',
      { dimensions: { region: 'eu' } },
      '1',
    ],
    ['a number input', { p: 'weight * 2' }, 'p', { dimensions: { weight: '-1.5' } }, '-3'],
    ['an earlier step', { a: '2', b: 'a * 3', c: 'b + a' }, 'c', {}, '8'],
    ['an output that is not the last step', { a: '2', b: 'a * 3' }, 'a', {}, '2'],
    [
      'a step wins over an attribute of its name',
      { api_calls: 'api_calls + 1', p: 'api_calls * 10' },
      'p',
      {},
      '1010',
    ],
    ['10 places, half away from zero', { p: '-0.00000000005' }, 'p', {}, '-0.0000000001'],
    ['a third', { p: '1 / 3' }, 'p', {}, '0.3333333333'],
    ['an unpriced logic needs no row', { p: '42' }, 'p', { dimensions: { region: 'x' } }, '42'],
    ['a text as output', { p: 'region' }, 'p', { dimensions: { region: 'x' } }, 'FORMULA_ERROR'],
    ['division by zero', { p: '1 / (api_calls - 100)' }, 'p', {}, 'FORMULA_ERROR'],
    [
      'a fault in a step that the output does not need',
      { p: '1', q: '1 / 0' },
      'p',
      {},
      'FORMULA_ERROR',
    ],
    ['an input that the event does not give', { p: 'weight * 2' }, 'p', {}, 'FORMULA_ERROR'],
    [
      'a text input in arithmetic, even 5',
      { p: 'region * 2' },
      'p',
      { dimensions: { region: '5' } },
      'FORMULA_ERROR',
    ],
    ['an unknown name', { p: 'nothing' }, 'p', {}, 'FORMULA_ERROR'],
    ['a later step', { p: 'q', q: '1' }, 'p', {}, 'FORMULA_ERROR'],
    ['a formula that does not parse', { p: '1 +' }, 'p', {}, 'FORMULA_ERROR'],
    ['an output that is no step', { p: '1' }, 'x', {}, 'FORMULA_ERROR'],
    ['Price() of what has no row', { p: 'Price(region, 1)' }, 'p', {}, 'NO_MATCHING_ROW'],
    [
      'a sum that is too large',
      { a: '9'.repeat(38), b: 'a * a', p: 'b * b' },
      'p',
      {},
      'FORMULA_ERROR',
    ],
  ];
  for (const [name, steps, output, message, expected] of cases) {
    // spec/rating.md R44, R47, R49, R53
    it(`${name}: ${expected}`, () => {
      assert.equal(rateAmount(message, withLogics(aLogic(steps, output))), expected);
    });
  }

  const messages: [steps: Record<string, string>, expected: string][] = [
    [{ p: '1', q: '2 / 0' }, "FORMULA_ERROR: Pricing logic 'Main', step 'q': division by zero"],
    [
      { p: 'weight' },
      "FORMULA_ERROR: Pricing logic 'Main', step 'p': the event does not give 'weight'",
    ],
    [
      { p: 'Price(x, 1)' },
      "NO_MATCHING_ROW: The USD rate card of service 'Messaging' has no row of 'x'",
    ],
  ];
  for (const [steps, expected] of messages) {
    it(`says ${expected}`, () => {
      assert.equal(rejectionOf(rate(anEvent(), withLogics(aLogic(steps, 'p')))), expected);
    });
  }

  // Without logic an event of 100 costs 200; the logics cost 7.
  const chargeTypes: [name: string, types: (string | null)[], expected: string][] = [
    ['Usage', ['Usage'], '7'],
    ['All', ['All'], '7'],
    ['none given', [null], '7'],
    ['Subscription is not for usage', ['Subscription'], '200'],
    ['neither is OTC', ['OTC', 'Subscription'], '200'],
    ['those that apply are added', ['Usage', 'Subscription', 'All'], '14'],
  ];
  for (const [name, types, expected] of chargeTypes) {
    // spec/rating.md R40
    it(`chargeType: ${name}`, () => {
      const logics = types.map((chargeType) => aLogic({ p: '7' }, 'p', { chargeType }));
      assert.equal(rateAmount({}, withLogics(...logics)), expected);
    });
  }

  // Subscription 7, All 5, none given (so Usage) 3.
  const charges: [charge: ChargeType, expected: string][] = [
    ['Usage', '8'],
    ['Subscription', '12'],
    ['OTC', '5'],
  ];
  for (const [charge, expected] of charges) {
    it(`a ${charge} charge runs its own logic: ${expected}`, () => {
      const types: [chargeType: string | null, price: string][] = [
        ['Subscription', '7'],
        ['All', '5'],
        [null, '3'],
      ];
      const logics = types.map(([chargeType, price]) => aLogic({ price }, 'price', { chargeType }));
      const prepared = prepare(anEvent(), withLogics(...logics), charge);
      const explained = prepared.ok ? explain(prepared, new Map()) : prepared;
      assert.equal(amountOf(explained), expected);
      assert.equal(explained.ok && explained.transactions[0]?.chargeType, charge);
    });
  }

  // spec/rating.md R50
  it("the logic's usage type and the event's account hold, not those of the rows", () => {
    const paying = [
      aRow(
        'api_calls',
        'QUANTITY',
        { unitRate: '2' },
        { usageType: 'Payout', billingAccountId: 'partner' },
      ),
    ];
    const charge = aLogic({ p: 'Price(api_calls, 1)' }, 'p', { seqNo: 2, usageType: null });
    const payout = aLogic({ p: '5' }, 'p', { seqNo: 1, usageType: 'Payout' });
    const rated = rate(anEvent(), withRows(paying, { logics: [charge, payout] }));
    // In the order of seqNo.
    assert.deepEqual(
      rated.ok &&
        rated.transactions.map((each) => [
          each.usageType,
          each.billedAccountId,
          each.amount.toFixed(),
          each.dimensions.map(({ usageType }) => usageType),
        ]),
      [
        ['Payout', 'account-1', '5', []],
        ['Charge', 'account-1', '2', ['Charge']],
      ],
    );
  });

  describe('explanation', () => {
    // spec/rating.md R65
    it('walks from the charge to the line, card, row, tiers, counter and total', () => {
      const context = {
        ...withRows(
          [
            aRow(
              'api_calls',
              'TIERED',
              tiers(['0', '100', '0'], ['100', '110', '5', 'flat'], ['110', null, '0.1']),
              { when: { region: 'eu' } },
            ),
          ],
          {
            attributes: [aMeter('api_calls'), anAttribute('region', 'INPUT')],
          },
        ),
        lines: [aLine('line-1', { serviceInstanceId: 'i-1' })],
      };
      const prepared = prepare(anEvent({ dimensions: { api_calls: '30', region: 'eu' } }), context);
      assert.isTrue(prepared.ok);
      if (!prepared.ok) return;
      const key = 'line/line-1/11111111-1111-4111-8111-111111111111/Monthly/2024-03-01/api_calls';
      const explained = explain(prepared, new Map([[key, decimal('90')]]));
      assert.isTrue(explained.ok);
      if (!explained.ok) return;
      const [explanation] = explained.explanations;
      assert.deepEqual(JSON.parse(JSON.stringify(explanation)), explanation, 'is JSON-safe');
      assert.deepEqual(explanation?.contractLine, {
        id: 'line-1',
        contractId: 'contract of line-1',
        contractNumber: 'N-line-1',
        serviceInstanceId: 'i-1',
      });
      assert.deepEqual(explanation?.card, {
        id: 'c-USD-1',
        source: 'catalog',
        currency: 'USD',
        versionNo: 1,
        fromDate: '2024-01-01',
      });
      const [row] = explanation?.rows ?? [];
      assert.deepEqual(row?.matched, [{ name: 'region', value: 'eu' }]);
      assert.equal(`${row?.quantity} from ${row?.quantityFrom}`, '30 from dimension');
      assert.equal(
        `${row?.counter?.frequency} ${row?.counter?.periodStart}: ${row?.counter?.before} to ${row?.counter?.after}`,
        'Monthly 2024-03-01: 90 to 120',
      );
      // 10 free, then the band of 5, then 10 * 0.1
      assert.deepEqual(row?.tiers, [
        {
          tierNum: 1,
          from: '90',
          to: '100',
          volume: '10',
          unitRate: '0',
          isFlat: false,
          amount: '0',
        },
        {
          tierNum: 2,
          from: '100',
          to: '110',
          volume: '10',
          unitRate: '5',
          isFlat: true,
          amount: '5',
        },
        {
          tierNum: 3,
          from: '110',
          to: '120',
          volume: '10',
          unitRate: '0.1',
          isFlat: false,
          amount: '1',
        },
      ]);
      assert.deepEqual(explanation?.total, {
        method: 'sum of rows',
        parts: [{ name: 'api_calls TIERED', amount: '6' }],
        amount: '6',
        currency: 'USD',
      });
    });

    // spec/rating.md R65
    it('shows every formula step with its value, and which step asked for a price', () => {
      const logic = aLogic(
        { base: 'Price(api_calls, api_calls)', where: '"eu"', all: 'base / 3' },
        'all',
      );
      const prepared = prepare(anEvent(), withLogics(logic));
      assert.isTrue(prepared.ok);
      const explained = prepared.ok ? explain(prepared, new Map()) : prepared;
      const [explanation] = explained.ok ? explained.explanations : [];
      // 200 / 3 at 60 digits
      const third = `66.${'6'.repeat(57)}7`;
      assert.deepEqual(explanation?.steps, [
        {
          logic: 'Main',
          name: 'base',
          label: null,
          formula: 'Price(api_calls, api_calls)',
          value: '200',
        },
        { logic: 'Main', name: 'where', label: null, formula: '"eu"', value: 'eu' },
        { logic: 'Main', name: 'all', label: null, formula: 'base / 3', value: third },
      ]);
      assert.deepEqual(
        explanation?.rows.map(({ step, quantityFrom }) => [step, quantityFrom]),
        [['base', 'formula']],
      );
      assert.deepEqual(explanation?.total, {
        method: 'sum of pricing logic',
        parts: [{ name: 'Main: all', amount: third }],
        amount: '66.6666666667',
        currency: 'USD',
      });
    });
  });
});
