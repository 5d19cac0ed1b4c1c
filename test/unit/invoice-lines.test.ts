import { expect } from 'chai';
import { totalsOf } from '../../src/adapters/pdf/invoice-page.js';
import { linesOfItem, priceText, type Formats } from '../../src/adapters/pdf/item-lines.js';
import { pdfInvoice, pdfItem } from '../support/billing/pdf-invoice.js';

const formats: Formats = {
  money: (text) => `$${text}`,
  price: (text) => text,
  count: (text) => text,
  minorDigits: 2,
};
const tier = (from: string, to: string | null, volume: string, unitRate: string) => ({
  tierNum: 1,
  from,
  to,
  volume,
  unitRate,
  isFlat: false,
  amount: String(Number(volume) * Number(unitRate)),
});
const step = (label: string | null, value: string | null) => ({
  label,
  value,
  name: 'total',
  formula: '2 * seats',
});
const computed = { method: null, rate: null, stepsOf: 1 };

describe('the lines below an item of an invoice', () => {
  for (const [name, changes, price, lines] of [
    // 17 x 0.125 = 2.125, which is 2.13.
    ['none where quantity times price is the amount', {}, '0.125', []],
    // 2.5 % of 40 is 1.
    [
      'none of a percentage, which has its sign',
      { method: 'AMOUNT', volume: '40', rate: '2.5', amount: '1' },
      '2.5 %',
      [],
    ],
    [
      'a flat price, and how often',
      { method: 'FLAT_RATE', volume: '300', rate: '10', amount: '30.00' },
      '10',
      ['3 times 10, whatever the quantity'],
    ],
    [
      'a flat price that was charged once',
      { method: 'FLAT_RATE', volume: '300', rate: '10', amount: '10.00' },
      '10',
      ['10, whatever the quantity'],
    ],
    [
      'tiers, which have no one price',
      {
        method: 'TIERED',
        volume: '150',
        rate: '0.1666666667',
        amount: '25',
        tiers: [
          tier('0', '100', '100', '0'),
          { ...tier('100', '200', '30', '0.5'), amount: '15' },
          { ...tier('200', null, '20', '10'), isFlat: true, amount: '10' },
        ],
      },
      '',
      ['0 to 100: 100 × 0 = $0', '100 to 200: 30 × 0.5 = $15', 'above 200: 10 for the band = $10'],
    ],
    [
      'tiers of invoices that were posted before they were kept',
      { method: 'TIERED', volume: '150', rate: '0.1666666667', amount: '25.10' },
      '',
      ['Price by tiers of the volume'],
    ],
    // 60 x 16 / 31 = 30.9677..., and back: 60.
    [
      'what a unit of the whole volume cost',
      { method: 'VOLUME', volume: '1500', rate: '0.5', amount: '750.00' },
      '',
      ['The whole volume at the rate of its tier: 0.5 each'],
    ],
    [
      'how many packages were sold',
      { method: 'PACKAGE', volume: '2001', rate: '5', amount: '15.00' },
      '5',
      ['3 packages at 5'],
    ],
    [
      'the charged days, and the price of all',
      {
        rate: '60',
        volume: '1',
        amount: '30.97',
        exactAmount: '30.9677419355',
        proration: { days: 16, of: 31, text: '16 of 31 days' },
      },
      '60',
      ['16 of 31 days of $60'],
    ],
    [
      'steps by their labels, with what they came to',
      { ...computed, steps: [step('Agents', '6'), step(null, '6')] },
      '',
      ['Agents: 6', 'total = 2 * seats: 6'],
    ],
    [
      'steps of many events, without values',
      { ...computed, stepsOf: 7, steps: [step('Agents', null)] },
      '',
      ['Computed for each of 7 events:', 'Agents = 2 * seats'],
    ],
    ['that logic made it', computed, '', ['Computed by the pricing logic of the service']],
    ['that prices differed', { amount: '2.00' }, '0.125', ['Sum of single prices']],
  ] as const) {
    it(name, () => {
      const item = pdfItem('Item', changes);
      expect(priceText(item, formats)).to.equal(price);
      expect(linesOfItem(item, formats)).to.deep.equal(lines);
    });
  }
});

describe('the taxes below the items of an invoice', () => {
  const labels = (tax: string) =>
    totalsOf(pdfInvoice('Acme', [], { taxes: [{ rate: '19', base: '37.50', tax }] }), String)
      .map(({ label }) => label)
      .filter((label) => label.startsWith('Tax'));

  it('say that items are rounded where they are not the rate of the sum', () => {
    // 37.50 x 19 % = 7.125, which is 7.13; three items of 12.50 are 2.38 each.
    expect(labels('7.13')).to.deep.equal(['Tax 19 % on 37.50']);
    expect(labels('7.14')).to.deep.equal([
      'Tax 19 % on 37.50',
      'Tax is computed and rounded for each item',
    ]);
  });
});
