import { assert } from 'chai';
import fc from 'fast-check';
import { Decimal, decimalText, roundAmount, sum } from '../../src/kernel/numbers/money.js';
import { compileFormula } from '../../src/rating/formula/compile-formula.js';
import {
  explain,
  prepare,
  prepareFromPlan,
  ratePrepared,
  readUsageEvent,
  rejectionCodes,
  type LogicFacts,
  type RatingContext,
  type RowFacts,
} from '../../src/rating/index.js';
import * as make from '../unit/rating/facts.js';

/** Quantities and rates with few digits, so that no charge needs more than 10 places. */
const small = fc.integer({ min: 0, max: 4_000 }).map((n) => new Decimal(n).div(8).toFixed());
const rateText = fc.integer({ min: 0, max: 500 }).map((n) => new Decimal(n).div(100).toFixed());

interface Stair {
  readonly width: number;
  readonly rate: string;
  readonly isFlat: boolean;
}
const stairs: fc.Arbitrary<Stair[]> = fc.array(
  fc.record({ width: fc.integer({ min: 1, max: 200 }), rate: rateText, isFlat: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);

/** Adjoining tiers, the last open; in one of both ways of writing a bound. */
function tiersOf(steps: readonly Stair[], isWholeNumbers: boolean): make.TierText[] {
  let lower = 0;
  return steps.map(({ width, rate, isFlat }, index): make.TierText => {
    const min = `${lower + (isWholeNumbers ? 1 : 0)}`;
    lower += width;
    const max = index === steps.length - 1 ? null : `${lower}`;
    return isFlat ? [min, max, rate, 'flat'] : [min, max, rate];
  });
}

/** The price of a whole volume, written independently of the engine: unit by unit of 1/8. */
function priceByEighths(steps: readonly Stair[], volume: Decimal): Decimal {
  const eighths = volume.times(8).toNumber();
  let total = new Decimal(0);
  for (let lower = 0, index = 0; index < steps.length; index += 1) {
    const { width, rate, isFlat } = steps[index] ?? { width: 0, rate: '0', isFlat: false };
    const upper = index === steps.length - 1 ? Infinity : lower + width * 8;
    const within = Math.max(0, Math.min(eighths, upper) - lower);
    if (within > 0) total = total.plus(isFlat ? rate : new Decimal(rate).times(within).div(8));
    lower += width * 8;
  }
  return total;
}

function meteredContext(tiers: make.TierText[]): RatingContext {
  const row = make.aRow('api_calls', 'TIERED', make.tiers(...tiers));
  return make.withRows([row], { attributes: [make.aMeter('api_calls')] });
}

describe('property: metered usage', () => {
  // spec/rating.md R33, R39
  it('split in any way and any order, within one period, costs what the whole costs', () => {
    const quantities = fc.array(small, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(stairs, fc.boolean(), quantities, (steps, isWholeNumbers, split) => {
        const context = meteredContext(tiersOf(steps, isWholeNumbers));
        const whole = sum(split.map((text) => new Decimal(text)));
        const expected = decimalText(priceByEighths(steps, whole));
        for (const order of [split, [...split].reverse(), [whole.toFixed()]]) {
          const counters: make.Counters = new Map();
          const charges = order.map((quantity) => {
            const event = make.anEvent({ dimensions: { api_calls: quantity } });
            return new Decimal(make.amountOf(make.rate(event, context, counters)));
          });
          assert.equal(decimalText(sum(charges)), expected);
          assert.equal(decimalText(sum(counters.values())), decimalText(whole));
        }
      }),
      { numRuns: 150 },
    );
  });

  // spec/rating.md R39
  it('of several periods, mixed in any order, costs what each period costs alone', () => {
    const usage = fc.record({ month: fc.constantFrom('01', '02', '03'), quantity: small });
    const usages = fc
      .array(usage, { minLength: 1, maxLength: 10 })
      .chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
      );
    fc.assert(
      fc.property(stairs, usages, (steps, [inOrder, shuffled]) => {
        const context = meteredContext(tiersOf(steps, false));
        const totalOf = (list: typeof inOrder) => {
          const counters: make.Counters = new Map();
          const amounts = list.map(({ month, quantity }) => {
            const eventTimestamp = `2024-${month}-10T00:00:00Z`;
            const event = make.anEvent({ eventTimestamp, dimensions: { api_calls: quantity } });
            return new Decimal(make.amountOf(make.rate(event, context, counters)));
          });
          return decimalText(sum(amounts));
        };
        const months = ['01', '02', '03'].map((month) =>
          sum(
            inOrder
              .filter((each) => each.month === month)
              .map((each) => new Decimal(each.quantity)),
          ),
        );
        const expected = decimalText(sum(months.map((volume) => priceByEighths(steps, volume))));
        assert.equal(totalOf(inOrder), expected);
        assert.equal(totalOf(shuffled), expected);
      }),
      { numRuns: 100 },
    );
  });
});

const number = fc.oneof(
  rateText,
  fc.constantFrom('0', '1', '-1', '0.3333333333333', '1e5', '9'.repeat(38), 'x', '', '-0'),
);
const name = fc.constantFrom('api_calls', 'storage', 'region', 'level', 'zone');
const anyRates: fc.Arbitrary<unknown> = fc.oneof(
  fc.tuple(number, number).map(([max, rate]) => make.tiers(['0', max, rate])),
  number.map((text) => ({ flatRate: text, unitRate: text, percentageRate: text })),
  fc.jsonValue(),
);
const goodRates: fc.Arbitrary<unknown> = fc
  .tuple(stairs, fc.boolean(), rateText)
  .map(([steps, whole, text]) => ({
    ...make.tiers(...tiersOf(steps, whole)),
    flatRate: text,
    unitRate: text,
    percentageRate: text,
    packageSize: '7',
  }));
const anyRow: fc.Arbitrary<RowFacts> = fc
  .record({
    attributeName: fc.constantFrom('api_calls', 'storage'),
    priceMethod: fc.constantFrom(
      'FLAT_RATE',
      'TIERED',
      'TIERED',
      'VOLUME',
      'PACKAGE',
      'QUANTITY',
      'AMOUNT',
      'NO_PRICE',
      'toString',
    ),
    rates: fc.oneof({ weight: 9, arbitrary: goodRates }, { weight: 1, arbitrary: anyRates }),
    usageType: fc.constantFrom('Charge', 'Payout', null, 'x'),
    billingAccountId: fc.constantFrom(null, 'partner'),
    when: fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.constantFrom({ region: 'eu' }, { level: '1' }, { zone: '1' }) },
    ),
  })
  .map(({ attributeName, priceMethod, rates, ...more }) =>
    make.aRow(attributeName, priceMethod, rates, more),
  );

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('api_calls', 'storage', 'level', 'region', 's0', '2', '0.5', '0', '"zone"'),
    fc
      .tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/'), tie('expression'))
      .map((parts) => parts.join(' ')),
    fc
      .tuple(fc.constantFrom('Ceil', 'Floor', 'Round', '-', ''), tie('expression'))
      .map(([call, inner]) => `${call}(${inner})`),
    fc
      .tuple(fc.constantFrom('api_calls', 'storage'), tie('expression'))
      .map(([of, inner]) => `Price(${of}, ${inner})`),
  ),
}));
const anyLogic: fc.Arbitrary<LogicFacts> = fc
  .tuple(
    fc.array(
      fc.oneof({ weight: 9, arbitrary: expression }, { weight: 1, arbitrary: fc.string() }),
      { minLength: 1, maxLength: 4 },
    ),
    fc.constantFrom('Charge', 'Payout', null),
    fc.constantFrom('Usage', 'All', 'OTC', null),
  )
  .map(([formulas, usageType, chargeType]) => {
    const steps = Object.fromEntries(formulas.map((formula, index) => [`s${index}`, formula]));
    return make.aLogic(steps, `s${formulas.length - 1}`, { usageType, chargeType });
  });
const anyContext: fc.Arbitrary<RatingContext> = fc
  .record({
    rows: fc.array(anyRow, { minLength: 1, maxLength: 5 }),
    logics: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(anyLogic, { maxLength: 3 }) },
    ),
    isMeter: fc.boolean(),
    resetFrequency: fc.constantFrom(null, 'Monthly', 'Daily', 'Yearly', 'Never'),
    hasLine: fc.boolean(),
  })
  .map(({ rows, logics, isMeter, resetFrequency, hasLine }) => ({
    ...make.withRows(rows, {
      logics,
      attributes: [
        make.anAttribute('api_calls', 'PRICEABLE', { isMeter, resetFrequency }),
        make.anAttribute('storage'),
        make.anAttribute('region', 'INPUT'),
        make.anAttribute('level', 'INPUT', { dataType: 'Number' }),
      ],
    }),
    lines: hasLine ? [make.aLine('l-1')] : [],
  }));
const value = fc.oneof(
  { weight: 9, arbitrary: small },
  { weight: 1, arbitrary: fc.constantFrom('eu', '1', '-3', '12345678901234567890.123') },
);
const anyMessage = fc.record({
  dimensions: fc
    .tuple(fc.dictionary(name, value, { maxKeys: 2 }), value)
    .map(([others, calls]) => ({ ...others, api_calls: calls })),
  quantity: fc.constantFrom(undefined, 0, 2.5, 1000),
  serviceInstanceId: fc.constantFrom(...Array<undefined>(15), 'i-1'),
});

describe('property: any card, logic and event', () => {
  // spec/rating.md R67
  it('gives a price or a reason, which explanation and recomputation repeat', () => {
    let ratedCount = 0;
    fc.assert(
      fc.property(anyContext, anyMessage, small, (context, message, before) => {
        const event = make.anEvent(message);
        const prepared = prepare(event, context);
        if (!prepared.ok) {
          assert.include(rejectionCodes, prepared.code);
          return;
        }
        const counters = { get: () => new Decimal(before) };
        const rated = ratePrepared(prepared, counters);
        const explained = explain(prepared, counters);
        const plan = JSON.parse(JSON.stringify(prepared.plan)) as typeof prepared.plan;
        const again = prepareFromPlan(plan, event, prepared.owner);
        const repeated = again.ok ? explain(again, counters) : again;
        assert.equal(JSON.stringify(repeated), JSON.stringify(explained));
        if (!rated.ok || !explained.ok) {
          assert.deepEqual(explained, rated);
          return;
        }
        ratedCount += 1;
        assert.isAtLeast(rated.transactions.length, 1);
        rated.transactions.forEach((transaction, index) => {
          const explanation = explained.explanations[index];
          const amount = decimalText(transaction.amount);
          assert.equal(decimalText(roundAmount(transaction.amount)), amount);
          assert.equal(explanation?.total.amount, amount);
          const parts = explanation?.total.parts.map((part) => new Decimal(part.amount)) ?? [];
          assert.equal(decimalText(roundAmount(sum(parts))), amount);
          for (const row of explanation?.rows ?? []) {
            if (row.row.priceMethod !== 'TIERED') continue;
            assert.equal(
              decimalText(sum(row.tiers.map((tier) => new Decimal(tier.amount)))),
              row.amount,
            );
          }
          if (explanation?.total.method === 'sum of rows') {
            assert.equal(
              decimalText(sum(transaction.dimensions.map((each) => each.calcAmount))),
              amount,
            );
          }
        });
      }),
      { numRuns: 1_500 },
    );
    // Else the generators make nothing but rejections, and the above says nothing.
    assert.isAtLeast(ratedCount, 200);
  });

  it('reads any message without a crash', () => {
    const valid = {
      externalTransactionId: 'tx',
      serviceId: make.serviceId,
      eventTimestamp: '2024-03-15T12:00:00Z',
      billingAccountRef: 'acme',
      dimensions: { api_calls: '1' },
      quantity: 1,
    };
    const broken = fc
      .tuple(fc.constantFrom(...Object.keys(valid)), fc.anything())
      .map(([member, other]) => ({ ...valid, [member]: other }));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), broken), (message) => {
        const read = readUsageEvent(message);
        if (!read.ok) assert.equal(read.code, 'INVALID_EVENT');
        else assert.match(read.event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads any instant of the years 1900 to 9998 as Date does', () => {
    const range = {
      min: new Date('1900-01-02T00:00:00Z'),
      max: new Date('9998-12-30T00:00:00Z'),
      noInvalidDate: true,
    };
    fc.assert(
      fc.property(fc.date(range), fc.integer({ min: -1439, max: 1439 }), (at, offset) => {
        const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const zone = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
        assert.equal(
          make.anEvent({ eventTimestamp: `${local}${zone}` }).timestamp,
          at.toISOString(),
        );
      }),
    );
  });

  it('compiles or refuses any formula text', () => {
    const piece = fc.constantFrom(
      '(',
      ')',
      '+',
      '-',
      '*',
      '/',
      'Price',
      'Ceil',
      '"',
      "'",
      ',',
      ' ',
      '1',
      '.',
      'a',
      'API Calls',
      'é',
      '\0',
    );
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 700 }).map((pieces) => pieces.join('')),
      expression,
    );
    fc.assert(
      fc.property(text, (formula) => {
        const compiled = compileFormula(formula);
        if (!compiled.ok) assert.isNotEmpty(compiled.message);
      }),
      { numRuns: 2_000 },
    );
  });
});
