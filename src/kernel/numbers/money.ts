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

/** Short numbers that were read lately: the same few come again and again. */
const known = new Map<string, Decimal>();
const knownMax = 4_096;
const knownLengthMax = 16;

/**
 * Reads a decimal number from outside: no spaces, no hexadecimal, no Infinity. `null` when the text
 * is not such a number, or has more than 38 digits written out, so that nothing is ever rounded.
 */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > knownLengthMax) return readDecimal(text);
  let value = known.get(text) ?? null;
  if (value === null) {
    value = readDecimal(text);
    if (known.size >= knownMax) known.clear();
    if (value !== null) known.set(text, value);
  }
  return value;
}

function readDecimal(text: string): Decimal | null {
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

/**
 * Below zero where `a` is less than `b`, above it where it is greater: as `comparedTo` of the library
 * says, which copies its argument first.
 */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = [a.d, b.d] as [number[] | null, number[] | null];
  if (left === null || right === null) return a.comparedTo(b);
  // A zero has a sign and an exponent that say nothing.
  if (left[0] === 0 || right[0] === 0) {
    if (left[0] !== 0) return a.s;
    return right[0] === 0 ? 0 : -b.s;
  }
  if (a.s !== b.s) return a.s;
  if (a.e !== b.e) return a.e > b.e ? a.s : -a.s;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference > 0 ? a.s : -a.s;
  }
  if (left.length === right.length) return 0;
  return left.length > right.length ? a.s : -a.s;
}

/** A number of so many digits before the point is in the first word of the library's seven digits. */
const wordDigits = 7;

/** Plain decimal text, `0` for both zeros. */
export function decimalText(value: Decimal): string {
  const { d: words, e: exponent } = value as { d: number[] | null; e: number };
  if (words?.length === 1 && exponent >= 0 && exponent < wordDigits) {
    const [word = 0] = words;
    return value.s < 0 && word !== 0 ? `-${word}` : String(word);
  }
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
  let total: Decimal | undefined;
  for (const value of values) total = total === undefined ? value : total.plus(value);
  return total === undefined ? ZERO : withoutNegativeZero(total);
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
  const isRound = value.isFinite() && value.decimalPlaces() <= places;
  return withoutNegativeZero(
    isRound ? value : value.toDecimalPlaces(places, Decimal.ROUND_HALF_UP),
  );
}

function withoutNegativeZero(value: Decimal): Decimal {
  return value.isZero() ? ZERO : value;
}
