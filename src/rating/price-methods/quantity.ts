import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { priceMethod } from './price-method.js';

/** So much per unit. */
export const quantity = priceMethod({
  name: 'QUANTITY',
  rates: Type.Object({
    unitRate: DecimalValue({ description: 'Amount per unit of quantity.' }),
  }),
  price: (rates, usage) => ({
    ok: true,
    rate: rates.unitRate,
    amount: rates.unitRate.times(usage.quantity),
  }),
});
