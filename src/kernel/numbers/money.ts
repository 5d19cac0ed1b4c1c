import { Decimal as DecimalJs } from 'decimal.js';

declare module 'decimal.js' {
  interface Decimal {
    /** node-postgres calls this to turn a parameter into text; without it a Decimal is JSON-quoted. */
    toPostgres(): string;
  }
}

/**
 * The one decimal type of the system: 60 significant digits, half away from zero. Exponents are
 * bounded so that no formula can build a number whose plain text would fill the memory: what is
 * larger than 1e150 becomes Infinity (which the formula evaluator refuses), what is smaller than
 * 1e-150 becomes zero. Text is always plain, never with an exponent.
 */
export const Decimal: typeof DecimalJs = DecimalJs.clone({
  precision: 60,
  rounding: DecimalJs.ROUND_HALF_UP,
  minE: -150,
  maxE: 150,
  toExpNeg: -9e15,
  toExpPos: 9e15,
  defaults: true,
});
export type Decimal = DecimalJs;

/** How node-postgres and JSON.stringify write one: zero has no sign. */
for (const name of ['toPostgres', 'toJSON']) {
  Object.defineProperty(Decimal.prototype, name, {
    value(this: Decimal): string {
      return decimalText(this);
    },
  });
}

export const ZERO: Decimal = new Decimal(0);
export const ONE: Decimal = new Decimal(1);

/** Decimal places that a rated amount keeps (spec/rating.md R53). */
export const amountPlaces = 10;
/** Digits that a number from outside may have, written out without exponent. */
export const digitsMax = 38;

const plainNumber = /^[+-]?\d{1,38}$/;
const decimalNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/**
 * Reads a decimal number from outside: no spaces, no hexadecimal, no Infinity. `null` when the text
 * is not such a number, or has more than 38 digits written out, so that nothing is ever rounded.
 */
export function parseDecimal(text: string): Decimal | null {
  if (plainNumber.test(text)) return withoutNegativeZero(new Decimal(text));
  // Leading zeros and a long exponent are cheap to send and dear to compute: length is a limit too.
  if (text.length > 100 || !decimalNumber.test(text)) return null;
  // Counted before Decimal sees it: Decimal turns 1e-200 into zero, which would be a silent loss.
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '').replace(/0+$/, '');
  if (digits === '') return ZERO;
  if (digits.length + Math.abs(Number(exponent)) > 2 * digitsMax) return null;
  const value = new Decimal(text);
  return isWithinDigits(value) ? value : null;
}

/** Whether a number has at most 38 digits, written out without exponent. */
export function isWithinDigits(value: Decimal): boolean {
  if (!value.isFinite()) return false;
  return Math.max(value.e + 1, 1) + value.decimalPlaces() <= digitsMax;
}

/** Plain decimal text, `0` for both zeros. */
export function decimalText(value: Decimal): string {
  return value.isZero() ? '0' : value.toFixed();
}

/** An amount as a row keeps it: 10 places, half away from zero. */
export function roundAmount(amount: Decimal): Decimal {
  return roundTo(amount, amountPlaces);
}

/** An amount as an invoice shows it; `digits` are those of the currency's minor unit, e.g. 2. */
export function roundToMinorUnit(amount: Decimal, digits: number): Decimal {
  return roundTo(amount, digits);
}

/** To a whole number, half away from zero. */
export function roundToWhole(value: Decimal): Decimal {
  return roundTo(value, 0);
}

export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO;
  for (const value of values) total = total.plus(value);
  return total;
}

/**
 * Rounds parts so that they add up to their rounded total: each is rounded down, and the units left
 * over go to the largest remainders, the earlier part first when two are equal.
 */
export function roundParts(parts: readonly Decimal[], places: number): Decimal[] {
  if (parts.length <= 1 || parts.every((part) => part.decimalPlaces() <= places)) {
    return parts.map((part) => roundTo(part, places));
  }
  const floors = parts.map((part) =>
    withoutNegativeZero(part.toDecimalPlaces(places, Decimal.ROUND_FLOOR)),
  );
  const unit = new Decimal(10).pow(-places);
  const missing = roundTo(sum(parts), places).minus(sum(floors)).div(unit).toNumber();
  const byRemainder = parts
    .map((part, index) => ({ index, remainder: part.minus(floors[index] ?? ZERO) }))
    .sort((a, b) => b.remainder.comparedTo(a.remainder) || a.index - b.index);
  for (const { index } of byRemainder.slice(0, missing)) {
    floors[index] = (floors[index] ?? ZERO).plus(unit);
  }
  return floors;
}

function roundTo(value: Decimal, places: number): Decimal {
  return withoutNegativeZero(value.toDecimalPlaces(places, Decimal.ROUND_HALF_UP));
}

function withoutNegativeZero(value: Decimal): Decimal {
  return value.isZero() ? ZERO : value;
}
