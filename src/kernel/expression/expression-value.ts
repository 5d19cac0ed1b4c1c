import { ExpressionFault } from './expression-fault.js';

/** What stands in a list or an object. */
export const insideOf = (value: object): unknown[] =>
  Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : Object.values(value);

/**
 * A value as the library reads it: it asks objects for their constructor, so that one with a property of
 * that name is no object for it, but as a map it is one.
 */
export function readable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(readable);
  const entries = Object.entries(value).map(([name, one]) => [name, readable(one)] as const);
  return Object.hasOwn(value, 'constructor') ? new Map(entries) : Object.fromEntries(entries);
}

/** What a value weighs, and whether it has names of which the library must not know (`readable`). */
interface Weighed {
  readonly weight: number;
  readonly isOdd: boolean;
}

/** Weighs a value: its values, strings by their length; no more than `max` are counted. */
export function weigh(value: unknown, max: number): Weighed {
  let weight = 0;
  let isOdd = false;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && weight <= max) {
    const one = waiting.pop();
    weight += 1;
    if (typeof one === 'string') weight += one.length >> 4;
    else if (typeof one === 'object' && one !== null) {
      isOdd ||= Object.hasOwn(one, 'constructor');
      const inner = insideOf(one);
      if (weight + waiting.length + inner.length > max) return { weight: max + 1, isOdd };
      waiting.push(...inner);
    }
  }
  return { weight, isOdd };
}

const valuesMax = 100_000;
const depthMax = 60;

/** A value of an expression as JSON has it. */
export function plainOf(value: unknown, depth: number, count = { of: 0 }): unknown {
  count.of += 1;
  if (depth > depthMax || count.of > valuesMax) {
    throw new ExpressionFault('The value of the expression is too large.');
  }
  if (typeof value === 'bigint') return wholeOf(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new ExpressionFault('The value of the expression is no finite number.');
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => plainOf(one, depth + 1, count));
  if (typeof value === 'object') {
    const own = Object.getPrototypeOf(value) as unknown;
    if (own !== Object.prototype && own !== null && !(value instanceof Map)) return scalarOf(value);
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, one]) => [String(name), plainOf(one, depth + 1, count)]),
    );
  }
  throw new ExpressionFault('The value of the expression cannot be written as JSON.');
}

/** A duration in milliseconds as seconds, an unsigned number as a number. */
function scalarOf(value: object): unknown {
  const plain: unknown = value.valueOf();
  if (typeof plain === 'bigint') return wholeOf(plain);
  if (typeof plain === 'number') return `${plain / 1000}s`;
  throw new ExpressionFault('The value of the expression cannot be written as JSON.');
}

/** A whole number that a double has exactly is a number, any other a text. */
const wholeOf = (value: bigint): number | string =>
  BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))
    ? Number(value)
    : value.toString();
