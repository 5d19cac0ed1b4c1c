import { expect } from 'chai';
import {
  findIdleRows,
  type CheckedCard,
  type CheckedRow,
  type IdleRow,
} from '../../../src/rating/index.js';

const row = (attributeName: string, conditions: Record<string, string> = {}): CheckedRow => ({
  attributeName,
  attributeValues: Object.entries(conditions).map(([name, value]) => ({ name, value })),
  resetFrequency: null,
});
const logic = (formula: string, chargeType: string | null = null) => ({
  chargeType,
  steps: [{ name: 'total', formula }],
});

const found = (card: Partial<CheckedCard>): IdleRow[] => {
  const pieces = findIdleRows({
    serviceType: 'Usage',
    attributes: [
      { name: 'calls', dataType: 'Number', isMeter: false },
      { name: 'storage', dataType: 'Number', isMeter: true },
      { name: 'level', dataType: 'Number', isMeter: false },
      { name: 'zone', dataType: 'String', isMeter: false },
    ],
    logics: [],
    rows: [],
    ...card,
  });
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
  }
};

describe('rows that nothing reaches', () => {
  it('are those behind a row of the same attribute and conditions', () => {
    const rows = [
      row('calls'),
      row('calls', { zone: 'eu', level: '1' }),
      row('storage'),
      row('calls', { level: '1.0', zone: 'eu' }),
      row('calls', { zone: 'eu' }),
      row('calls', { zone: '1' }),
      row('calls', { zone: '1.0' }),
      row('calls'),
      row('calls'),
    ];
    expect(found({ rows })).to.deep.equal([
      { row: 3, why: 'hidden', by: 1 },
      { row: 7, why: 'hidden', by: 0 },
      { row: 8, why: 'hidden', by: 0 },
    ]);
  });

  it('are those whose condition is no number, where the attribute is one', () => {
    const rows = [row('calls', { level: 'gold' }), row('calls', { zone: 'gold', level: '2' })];
    expect(found({ rows })).to.deep.equal([
      { row: 0, why: 'no number', name: 'level', value: 'gold' },
    ]);
  });

  it('are those that no formula asks for, where formulas price every charge', () => {
    const rows = [row('calls'), row('storage')];
    const idle = [{ row: 1, why: 'no formula' }];
    const logics = [logic('Price(calls, 1)')];
    expect(found({ rows, logics })).to.deep.equal(idle);
    expect(found({ rows, logics: [...logics, logic('Price(storage, 2)')] })).to.deep.equal([]);
    // A subscription is charged by its rows where logic is for usage alone, and the other way round.
    const subscription = { rows, serviceType: 'Subscription' };
    const forUsage = logic('Price(calls, 1)', 'Usage');
    const forSubscription = logic('Price(calls, 1)', 'Subscription');
    expect(found({ ...subscription, logics: [forUsage] })).to.deep.equal([]);
    expect(found({ ...subscription, logics: [forSubscription] })).to.deep.equal([]);
    expect(found({ ...subscription, logics: [forUsage, forSubscription] })).to.deep.equal(idle);
    const forAll = logic('Price(calls, 1)', 'All');
    expect(found({ ...subscription, logics: [forAll] })).to.deep.equal(idle);
    expect(found({ rows, serviceType: 'OTC', logics: [forAll] })).to.deep.equal([]);
  });

  it('say so of a reset frequency where nothing is counted', () => {
    const rows = [
      { ...row('calls'), resetFrequency: 'Monthly' },
      { ...row('storage'), resetFrequency: 'Monthly' },
    ];
    expect(found({ rows })).to.deep.equal([{ row: 0, why: 'not metered' }]);
  });
});
