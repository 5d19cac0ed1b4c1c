import { LosslessNumber, parse as parseLossless, stringify } from 'lossless-json';
import { Decimal, decimalText, parseDecimal } from '../kernel/money.js';
import { problem } from '../kernel/problem.js';

/** Deeper documents are refused: nothing of ours nests so deep, and recursion has its price. */
const depthMax = 64;
/** A number token with so many digits, or an exponent, may not survive a float. */
const unsafeNumber = /[\d.]{16}|\d[eE]/;
const significantDigitsMax = 15;

/**
 * Reads a JSON text. Numbers that a float would change come as `Decimal`, so that no digit is lost
 * (0-decisions.md section 1); all others as numbers. Throws a validation problem.
 */
export function parseJson(text: string): unknown {
  checkDepth(text);
  try {
    return unsafeNumber.test(text)
      ? parseLossless(text, null, { parseNumber: readNumber })
      : JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : '';
    throw problem.validation(`The body is not valid JSON: ${reason}`);
  }
}

function readNumber(token: string): unknown {
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '');
  if (digits.length <= significantDigitsMax && !/[eE]/.test(token)) return Number(token);
  // A number too long for us stays what it is: its field refuses it by name.
  return parseDecimal(token) ?? new LosslessNumber(token);
}

function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (inString) {
      if (char === 92) index += 1;
      else if (char === 34) inString = false;
    } else if (char === 34) inString = true;
    else if (char === 123 || char === 91) {
      depth += 1;
      if (depth > depthMax) {
        throw problem.validation(`The body nests deeper than ${depthMax} levels.`);
      }
    } else if (char === 125 || char === 93) depth -= 1;
  }
}

/** Escapes that PostgreSQL cannot store: NUL, and halves of a surrogate pair. */
const suspiciousEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/** Throws a validation problem that names the field when a text in the body cannot be stored. */
export function refuseUnstorableText(text: string, body: unknown): void {
  if (!suspiciousEscape.test(text)) return;
  const field = findUnstorable(body, '');
  if (field !== undefined) {
    throw problem.validation(`'${field}' contains a character that cannot be stored`, { field });
  }
}

const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

function findUnstorable(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const inner = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (isUnstorable(key)) return inner.replaceAll('\0', '?').toWellFormed();
    const found = findUnstorable(child, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

const decimalNumbers = [
  {
    test: (value: unknown) => value instanceof Decimal,
    stringify: (value: unknown) => decimalText(value as Decimal),
  },
];

/** Writes JSON; a `Decimal` becomes a number token with all its digits. */
export function stringifyJson(value: unknown): string {
  return stringify(value, null, undefined, decimalNumbers) ?? 'null';
}
