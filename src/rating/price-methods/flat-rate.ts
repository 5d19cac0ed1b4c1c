import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { priceMethod } from './price-method.js';

/** The same amount for an event, whatever its quantity. */
export const flatRate = priceMethod({
  name: 'FLAT_RATE',
  rates: Type.Object({
    flatRate: DecimalValue({ description: 'Amount per event, whatever its quantity.' }),
  }),
  price: (rates) => ({ ok: true, rate: rates.flatRate, amount: rates.flatRate }),
});
