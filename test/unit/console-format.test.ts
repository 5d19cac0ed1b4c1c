import { expect } from 'chai';
import { moneyText, percentText, placesOf } from '../../src/console/shown/format.js';

const told = (text: string): string => text.replaceAll('\u00a0', ' ');

// spec/beyond.md R501
describe('amounts and percentages in the console', () => {
  it('have as many places as those beside them, and at least those of their currency', () => {
    const amounts = ['134.488', '150.79', '3', '0.1234567890123456789'];
    expect(placesOf(amounts.slice(0, 3))).to.equal(3);
    expect(placesOf(['3'])).to.equal(0);
    const shown = amounts.slice(0, 3).map((amount) => told(moneyText(amount, 'USD', 3)));
    expect(shown).to.deep.equal(['USD 134.488', 'USD 150.790', 'USD 3.000']);
    for (const [currency, text] of [
      ['USD', 'USD 3.00'],
      ['JPY', 'JPY 3'],
      ['KWD', 'KWD 3.000'],
      ['credits', '3 credits'],
    ] as const) {
      expect(told(moneyText('3', currency))).to.equal(text);
    }
    // No digit is lost.
    expect(told(moneyText(amounts[3] ?? '', 'USD'))).to.equal('USD 0.1234567890123456789');
  });

  it('are short where that tells enough', () => {
    for (const [percent, text] of [
      ['21.2489765331', '21.25 %'],
      ['25', '25 %'],
      ['20.5', '20.5 %'],
      ['-8.1802046324', '-8.18 %'],
      ['0.000123456', '0.000123 %'],
      ['123456.789', '123,456.79 %'],
    ] as const) {
      expect(percentText(percent)).to.equal(text);
    }
  });
});
