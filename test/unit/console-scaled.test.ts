import { expect } from 'chai';
import { placeOf, scaled, wholeOf } from '../../src/console/prices/scaled.js';

// spec/beyond.md R477
describe('the slider of a price', () => {
  const rows: readonly (readonly [string, bigint, string])[] = [
    ['0.01', 150n, '0.015'],
    ['0.012500000000000001', 101n, '0.01262500000000000101'],
    ['90071992547409931', 300n, '270215977642229793'],
    ['12', 50n, '6'],
    ['-2.50', 10n, '-0.25'],
    ['7.00', 0n, '0'],
    ['-7', 0n, '0'],
    ['100', 100n, '100'],
  ];
  for (const [text, percent, expected] of rows) {
    it(`makes ${expected} of ${percent} % of ${text}`, () => {
      expect(scaled(text, percent)).to.equal(expected);
    });
  }

  it('is in parts of the price in force, or of 1 where that is nothing', () => {
    expect([wholeOf('0.00'), wholeOf('0.20')]).to.deep.equal(['1', '0.20']);
    const places = ['0', '0.01', '0.0151', '5', '-1', 'a lot'].map((text) => placeOf(text, '0.01'));
    expect(places).to.deep.equal([0, 100, 151, 300, 0, 0]);
  });
});
