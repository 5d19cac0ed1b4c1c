import { expect } from 'chai';
import { checkText } from '../../src/console/invoices/check-text.js';

type Given = Parameters<typeof checkText>[0];

const usage: Given = {
  chargeType: 'Usage',
  creditedItemId: null,
  exactAmount: '24',
  sumOfParts: '24',
  matches: true,
};
const said = (more: Partial<Given>): string =>
  checkText({ ...usage, ...more }, 'USD').replaceAll('\u00a0', ' ');

// spec/beyond.md R434
describe('what the console says of the parts of an item', () => {
  it('is that they come to the item, or that they do not', () => {
    expect(said({})).to.equal('The parts come to USD 24.00, and the item is that, rounded once.');
    expect(said({ sumOfParts: '25', matches: false })).to.equal(
      'The parts come to USD 25.00, and the item is something else. Run audit-usage.',
    );
  });

  it('names the opposite sign, where charges below zero are credited', () => {
    expect(said({ sumOfParts: '-24' })).to.equal(
      'The parts come to -USD 24.00, and the item is that, rounded once, with the opposite sign.',
    );
  });

  it('has no parts to add where an item takes something off the others', () => {
    expect(said({ chargeType: 'Discount', sumOfParts: '-8.1' })).to.equal(
      'What discounts took of the other items: -USD 8.10, rounded once. Their charges say the same.',
    );
    expect(said({ chargeType: 'Credits', sumOfParts: '-15', matches: false })).to.equal(
      'What grants paid of the other items: -USD 15.00. Their charges say something else. Run audit-usage.',
    );
  });

  it('does not say that a credit comes to 0: it is explained by the item that it credits', () => {
    const credited = { creditedItemId: '0199b6d0-0000-7000-8000-000000000002', sumOfParts: '0' };
    expect(said(credited)).to.equal(
      'The item that it credits was not credited with more than it charges.',
    );
    expect(said({ ...credited, matches: false })).to.equal(
      'The item that it credits was credited with more than it charges. Run audit-usage.',
    );
  });
});
