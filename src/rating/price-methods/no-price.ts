import { Type } from 'typebox';
import { ZERO } from '../../kernel/numbers/money.js';
import { priceMethod } from './price-method.js';

/** Usage that is recorded and counted, and costs nothing. */
export const noPrice = priceMethod({
  name: 'NO_PRICE',
  rates: Type.Object({}),
  price: () => ({ ok: true, rate: ZERO, amount: ZERO }),
});
