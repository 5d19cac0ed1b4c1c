import { expect } from 'chai';
import { leftOutText, whyText } from '../../src/console/receipts/why-text.js';

type Given = Parameters<typeof whyText>[0];

const plain: Given = { matched: [], quantityFrom: 'dimension', step: null };

// spec/beyond.md R484
describe('why a row priced usage', () => {
  const table: [name: string, given: Partial<Given>, expected: string[]][] = [
    ['is not said where nothing is special', {}, []],
    [
      'names the values that the row asks for',
      {
        matched: [
          { name: 'Region', value: 'eu' },
          { name: 'Plan', value: 'gold' },
        ],
      },
      ['The row was chosen because Region is eu and Plan is gold.'],
    ],
    [
      'says that the quantity is that of the event',
      { quantityFrom: 'message.quantity' },
      ['The event names no value of it: its quantity was taken.'],
    ],
    [
      'says that an event without one counts as one',
      { quantityFrom: 'default' },
      ['The event names neither a value of it nor a quantity: it counts as one.'],
    ],
    [
      'names the step that asked, and that a formula gave the quantity',
      { quantityFrom: 'formula', step: 'total' },
      ['The formula step total asked for this price.', 'A formula gave the quantity.'],
    ],
    ['says how a counter counts that is no sum', { aggregation: 'SUM' }, []],
    ['says so of the largest', { aggregation: 'MAX' }, ['Its counter keeps the largest value.']],
    [
      'says how many packages were begun',
      { packages: { size: '1000', before: '1', after: '3' } },
      ['Of packages of 1,000, 1 were begun before and 3 are with it.'],
    ],
  ];
  for (const [name, given, expected] of table) {
    it(name, () => {
      expect(whyText({ ...plain, ...given })).to.deep.equal(expected);
    });
  }

  it('says what is left out', () => {
    expect(leftOutText('1200')).to.equal(
      '1,200 more rows and steps are not shown: an explanation has at most 1 MiB.',
    );
  });
});
