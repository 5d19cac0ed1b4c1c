import { expect } from 'chai';
import { totalText } from '../../src/console/receipts/total-text.js';

/** As the console writes it, with spaces that break. */
const said = (...given: Parameters<typeof totalText>): string =>
  totalText(...given).replaceAll('\u00a0', ' ');

const totalOf = (amount: string, ...amounts: string[]) => ({
  method: 'sum of rows' as const,
  parts: amounts.map((each, index) => ({ name: ['Calls', 'Seats'][index] ?? '', amount: each })),
  amount,
  currency: 'USD',
});

const tenPercent = {
  adjustmentId: '0199b6d0-0000-7000-8000-000000000001',
  kind: 'discountPercent' as const,
  value: '10',
  before: '41',
  after: '36.9',
};

// spec/beyond.md R434
describe('what the console says before the total of a charge', () => {
  it('is the sum, where the parts come to the total', () => {
    expect(said({ total: totalOf('31', '31') })).to.equal('Total ');
    expect(said({ total: totalOf('41', '10', '31') })).to.equal(
      'Calls USD 10.00 + Seats USD 31.00 = ',
    );
  });

  it('names discounts: the parts are not what is left of them', () => {
    expect(said({ total: totalOf('27.9', '31'), adjustments: [tenPercent] })).to.equal(
      'Total after discounts: ',
    );
    expect(said({ total: totalOf('36.9', '10', '31'), adjustments: [tenPercent] })).to.equal(
      'Calls USD 10.00 + Seats USD 31.00, after discounts: ',
    );
  });

  it('names the days of a part of a period, and the part that an account bears', () => {
    // 31 for 16 of 31 days are 16, less 10 % 14.40, a third of it 4.80.
    const share = { part: '1 of 3', from: '0', to: '1', of: '3', whole: '14.4' };
    expect(said({ total: totalOf('16', '31') }, '16 of 31 days')).to.equal(
      'Total for 16 of 31 days: ',
    );
    expect(
      said({ total: totalOf('4.8', '31'), adjustments: [tenPercent], share }, '16 of 31 days'),
    ).to.equal('Total for 16 of 31 days, after discounts, part 1 of 3 of USD 14.40: ');
  });
});
