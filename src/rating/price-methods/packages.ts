import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { ONE, type Decimal } from '../../kernel/numbers/money.js';
import { priceMethod } from './price-method.js';
import { meterRates } from './tier-rates.js';

/**
 * So much for each package that is begun. Of a metered attribute the charge is for the packages that
 * the volume of the period begins with it: price(counter + quantity) - price(counter).
 */
export const packages = priceMethod({
  name: 'PACKAGE',
  rates: Type.Object({
    packageSize: DecimalValue({ description: 'Units of one package.', exclusiveMinimum: '0' }),
    unitRate: DecimalValue({ description: 'Amount for each package that is begun.' }),
    ...meterRates,
  }),
  price: ({ packageSize: size, unitRate }, { quantity, counterBefore }) => {
    const before = packagesOf(counterBefore, size);
    const after = packagesOf(counterBefore.plus(quantity), size);
    const count = after.minus(before);
    return {
      ok: true,
      rate: unitRate,
      amount: unitRate.times(count),
      packages: { size, before, after },
    };
  },
});

/** The packages that a volume begins. */
function packagesOf(volume: Decimal, size: Decimal): Decimal {
  const full = volume.divToInt(size);
  return full.times(size).lessThan(volume) ? full.plus(ONE) : full;
}
