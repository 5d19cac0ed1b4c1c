import { roundToMinorUnit, ZERO, type Decimal } from './money.js';

/** The tax on an amount at a rate in percent, rounded to minor units; null: no rate applies. */
export function taxOf(amount: Decimal, rate: Decimal | null, digits: number): Decimal {
  return rate === null ? ZERO : roundToMinorUnit(amount.times(rate).div(100), digits);
}
