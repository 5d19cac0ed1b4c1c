import { expect } from 'chai';
import { sumText } from '../../src/console/usage/sum-text.js';

// docs/decisions/0505
describe('the sum of amounts that are shown together', () => {
  for (const [texts, expected] of [
    [[], '0'],
    [['7'], '7'],
    [['1.5', '2'], '3.5'],
    [['0.1', '0.2'], '0.3'],
    [['-0.05', '0.02'], '-0.03'],
    [['-0.5', '0.5'], '0.0'],
    // Of more digits than a double has.
    [['1234567890123.123456789012', '0.000000000001'], '1234567890123.123456789013'],
    [['99999999999999999999', '1'], '100000000000000000000'],
  ] as const) {
    it(`of ${texts.join(' and ') || 'none'} is ${expected}`, () => {
      expect(sumText(texts)).to.equal(expected);
    });
  }
});
