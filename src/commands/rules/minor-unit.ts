import type { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';

const digitsOf = (currency: string): number => referenceData.currency(currency)?.minorDigits ?? 2;

/** An amount with the places of its currency, as messages say it. */
export const amountText = (amount: Decimal, currency: string): string =>
  amount.toFixed(Math.max(digitsOf(currency), amount.decimalPlaces()));

/** 400: money that moves has more decimal places than its currency has (docs/decisions/0275). */
export function requireMinorUnit(amount: Decimal, currency: string, field = 'amount'): void {
  const digits = digitsOf(currency);
  if (amount.decimalPlaces() <= digits) return;
  const places = digits === 1 ? 'place' : 'places';
  throw problem.validation(
    (nameOf) =>
      `'${nameOf(field)}' ${amount.toFixed()} has more decimal places than ${currency} has: ` +
      (digits === 0 ? 'it is paid in whole units' : `at most ${digits} ${places}`),
    { field, value: amount },
  );
}
