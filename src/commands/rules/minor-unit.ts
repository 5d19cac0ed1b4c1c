import type { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';

/** 400: money that moves has more decimal places than its currency has (docs/decisions/0275). */
export function requireMinorUnit(amount: Decimal, currency: string, field = 'amount'): void {
  const digits = referenceData.currency(currency)?.minorDigits ?? 2;
  if (amount.decimalPlaces() <= digits) return;
  const places = digits === 1 ? 'place' : 'places';
  throw problem.validation(
    (nameOf) =>
      `'${nameOf(field)}' ${amount.toFixed()} has more decimal places than ${currency} has: ` +
      (digits === 0 ? 'it is paid in whole units' : `at most ${digits} ${places}`),
    { field, value: amount },
  );
}
