import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { priceMethod } from './price-method.js';

const hundredth = new Decimal('0.01');

/** A percentage of the quantity, which is then an amount of money. */
export const amount = priceMethod({
  name: 'AMOUNT',
  rates: Type.Object({
    percentageRate: DecimalValue({
      description: 'Percentage of the quantity, which is an amount of money: 2.5 is 2.5 %.',
    }),
  }),
  price: (rates, usage) => ({
    ok: true,
    rate: rates.percentageRate,
    amount: rates.percentageRate.times(usage.quantity).times(hundredth),
  }),
});
