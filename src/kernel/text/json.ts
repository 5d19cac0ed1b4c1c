import { parse as parseLossless } from 'lossless-json';
import { isDouble } from '../numbers/double.js';
import { Decimal, decimalText, parseDecimal } from '../numbers/money.js';
import { problem } from '../problem.js';

/** Deeper documents are refused: nothing of ours nests so deep, and recursion has its price. */
export const depthMax = 64;
/** What we keep holds such documents in others. */
export const storedDepthMax = 1_000;
/** A number token with more digits, or with an exponent, may not survive a float. */
const safeDigitsMax = 15;

/** A number with more digits than we compute with: it stays what it is, and fields refuse it. */
class NumberToken {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): string {
    return this.text;
  }
}

/** Whether `parseJson` made it of a number: it is an object for JavaScript, and none for JSON. */
export const isNumberObject = (value: unknown): boolean =>
  value instanceof Decimal || value instanceof NumberToken;

/**
 * Reads a JSON text. Numbers that a float would change come as `Decimal`, so that no digit is lost
 * (spec/resources.md R25); all others as numbers. Throws a validation problem.
 */
export function parseJson(text: string, deepest = depthMax): unknown {
  const areNumbersSafe = scan(text, deepest);
  try {
    return areNumbersSafe
      ? JSON.parse(text)
      : parseLossless(text, null, {
          parseNumber: readNumber,
          // As JSON.parse has it: the last of several values of one name holds.
          onDuplicateKey: ({ newValue }) => newValue,
        });
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : '';
    throw problem.validation(`The body is not valid JSON: ${reason}`);
  }
}

/** Reads a JSON text that we have written: what was taken from callers lies some levels deeper in it. */
export const parseStoredJson = (text: string): unknown => parseJson(text, storedDepthMax);

function readNumber(token: string): unknown {
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '');
  if (digits.length <= safeDigitsMax && !/[eE]/.test(token)) return Number(token);
  return parseDecimal(token) ?? new NumberToken(token);
}

/** Whether every number survives a float; throws when the text nests too deep. */
function scan(text: string, deepest: number): boolean {
  let depth = 0;
  let digits = 0;
  let isSafe = true;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === 34) {
      index = endOfString(text, index);
      digits = 0;
    } else if ((char >= 48 && char <= 57) || char === 46) {
      digits += 1;
      if (digits > safeDigitsMax) isSafe = false;
    } else {
      if (digits > 0 && (char === 101 || char === 69)) isSafe = false;
      digits = 0;
      if (char === 123 || char === 91) {
        depth += 1;
        if (depth > deepest) {
          throw problem.validation(`The body nests deeper than ${deepest} levels.`);
        }
      } else if (char === 125 || char === 93) depth -= 1;
    }
  }
  return isSafe;
}

/** The index of the quote that ends the string which begins at `start`. */
export function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === 92) index += 1;
    else if (char === 34) return index;
  }
  return text.length;
}

/**
 * A JSON text that is written as it was read: its numbers keep their spelling and its keys their
 * order, which no value of JavaScript does.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** A stored object that is answered as the text that it is: parsed, it has many times as much in memory. */
export const asWritten = (text: string): Record<string, unknown> =>
  new JsonText(text) as unknown as Record<string, unknown>;

/**
 * Writes JSON; a `Decimal` becomes a number token with all its digits, which JSON.stringify cannot
 * write. It writes all that holds none: docs/decisions/0302 has what that saves.
 */
export const stringifyJson = (value: unknown): string =>
  (isNative(value) ? JSON.stringify(value) : writeValue(value)) ?? 'null';

/** Whether JSON.stringify writes the value as it is to be written. */
function isNative(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Date) return true;
  if ('toJSON' in value) return false;
  if (Array.isArray(value)) return value.every(isNative);
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const member = members[name];
    if (typeof member === 'object' && member !== null && !isNative(member)) return false;
  }
  return true;
}

/** Texts without quotes, backslashes, control characters and surrogates are JSON as they are. */
const needsNoEscape = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;
const quoted = (text: string): string =>
  needsNoEscape.test(text) ? `"${text}"` : JSON.stringify(text);

/** Undefined where JSON has no such value, as JSON.stringify has it. */
function writeValue(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof NumberToken || value instanceof JsonText) return value.text;
  if ('toJSON' in value) return writeValue((value as { toJSON: () => unknown }).toJSON());
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${writeValue(item) ?? 'null'}`;
    return `[${text}]`;
  }
  for (const [name, member] of Object.entries(value)) {
    const written = writeValue(member);
    if (written !== undefined) text += `${text === '' ? '' : ','}${quoted(name)}:${written}`;
  }
  return `{${text}}`;
}

/** Whether a float holds all digits of a decimal. */
const isSafeNumber = (value: Decimal): boolean =>
  value.precision() <= safeDigitsMax && new Decimal(value.toNumber()).eq(value);

/** A value whose numbers that are objects for JavaScript are what is read of them. */
function plain(value: unknown, read: (number: Decimal | NumberToken) => unknown): unknown {
  if (value instanceof Decimal || value instanceof NumberToken) return read(value);
  if (Array.isArray(value)) return value.map((item) => plain(item, read));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, plain(child, read)]),
  );
}

const textOf = (number: Decimal | NumberToken): string =>
  number instanceof Decimal ? decimalText(number) : number.text;

/**
 * A value as plain JSON, for where JSON is read with floats: a `Decimal` of up to 15 digits becomes a number,
 * all others their text.
 */
export const jsonSafe = (value: unknown): unknown =>
  plain(value, (number) =>
    number instanceof Decimal && isSafeNumber(number) ? number.toNumber() : textOf(number),
  );

/** A value as workflows of tenants have it: a number that no double holds is its text (spec/beyond.md R417). */
export const jsonWithDoubles = (value: unknown): unknown =>
  plain(value, (number) => {
    const text = textOf(number);
    return isDouble(text) ? Number(text) : text;
  });

/**
 * The same text for the same JSON value, whatever the order of its keys and the spelling of its
 * numbers (1, 1.0 and 1e0 are one number).
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'number') return decimalText(new Decimal(value));
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof NumberToken) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${quoted(name)}:${canonicalJson(members[name])}`).join(',')}}`;
}
