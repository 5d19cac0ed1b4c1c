import { inPortions } from '../portions.js';
import { ExpressionFault } from './expression-fault.js';

/** What stands in a list or an object. */
export const insideOf = (value: object): unknown[] =>
  Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : Object.values(value);

/**
 * A value as the library reads it: it asks objects for their constructor, so that one with a property of
 * that name is no object for it, but as a map it is one.
 */
function madeReadable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(madeReadable);
  const entries = Object.entries(value).map(([name, one]) => [name, madeReadable(one)] as const);
  return Object.hasOwn(value, 'constructor') ? new Map(entries) : Object.fromEntries(entries);
}

/**
 * What was found of values that expressions are given: they never change, and each expression of a task, and
 * each task, is given the same ones. Another look at one would cost as much time as the first, and is not
 * counted as much (docs/decisions/0456).
 */
const known = {
  readable: new WeakMap<object, unknown>(),
  weighed: new WeakMap<object, Weighed>(),
  plain: new WeakMap<object, Plain>(),
};

/** What `find` gives for a value; it is asked once for each that is a list or an object. */
function found<Found>(
  memory: WeakMap<object, Found>,
  value: unknown,
  find: (value: unknown) => Found,
): Found {
  if (typeof value !== 'object' || value === null) return find(value);
  const before = memory.get(value);
  if (before !== undefined) return before;
  const first = find(value);
  memory.set(value, first);
  return first;
}

/** The value of a variable as the library reads it. */
export const readable = (value: unknown): unknown => found(known.readable, value, madeReadable);

/** Values that are looked at at once. */
const lookedAtOnce = 1_000;

/** Whether some object in a value has a name of which the library must not know. */
function* lookingForOdd(value: unknown): Generator<undefined, boolean, undefined> {
  const waiting: unknown[] = [value];
  for (let count = 1; waiting.length > 0; count += 1) {
    const one = waiting.pop();
    if (typeof one === 'object' && one !== null) {
      if (Object.hasOwn(one, 'constructor')) return true;
      for (const inner of insideOf(one)) waiting.push(inner);
    }
    if (count % lookedAtOnce === 0) yield;
  }
  return false;
}

/**
 * Looks through a value of a variable in portions, so that an expression need not copy one that is too large to
 * be looked through at once.
 */
export async function lookThrough(value: unknown): Promise<void> {
  if (typeof value !== 'object' || value === null) return;
  const isOdd = await inPortions(lookingForOdd(value));
  if (!isOdd) known.readable.set(value, value);
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

/** Values of a variable that are weighed; what has more weighs that much. */
export const weightMax = 50_000;

/** Weighs the value of a variable. */
export const weighVariable = (value: unknown): Weighed =>
  found(known.weighed, value, (one) => weigh(one, weightMax));

const valuesMax = 100_000;
const depthMax = 60;

/** A value as JSON has it, with how many there are in it and how deep. */
interface Plain {
  readonly value: unknown;
  readonly count: number;
  readonly depth: number;
}

/** What stands no deeper in a result, and has as much inside, is remembered: all of a variable, in a list. */
const knownDepth = 2;
const knownCount = 500;

/** How many values were looked at, and how deep they are. */
interface Looked {
  count: number;
  depth: number;
}

/** A value of an expression as JSON has it. */
export function plainOf(
  value: unknown,
  depth = 0,
  looked: Looked = { count: 0, depth: 0 },
): unknown {
  const isKept = depth <= knownDepth && typeof value === 'object' && value !== null;
  const before = isKept ? known.plain.get(value) : undefined;
  looked.count += before?.count ?? 1;
  looked.depth = Math.max(looked.depth, depth + (before?.depth ?? 0));
  if (looked.depth > depthMax || looked.count > valuesMax) {
    throw new ExpressionFault('The value of the expression is too large.');
  }
  if (before) return before.value;
  if (!isKept) return newPlain(value, depth, looked);
  const inside = { count: looked.count, depth };
  const made = newPlain(value, depth, inside);
  const kept = { value: made, count: inside.count - looked.count + 1, depth: inside.depth - depth };
  if (kept.count >= knownCount && typeof made === 'object' && made !== null) {
    known.plain.set(value, kept).set(made, kept);
  }
  looked.count = inside.count;
  looked.depth = Math.max(looked.depth, inside.depth);
  return made;
}

function newPlain(value: unknown, depth: number, looked: Looked): unknown {
  if (typeof value === 'bigint') return wholeOf(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new ExpressionFault('The value of the expression is no finite number.');
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => plainOf(one, depth + 1, looked));
  if (typeof value === 'object') {
    const own = Object.getPrototypeOf(value) as unknown;
    if (own !== Object.prototype && own !== null && !(value instanceof Map)) return scalarOf(value);
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, one]) => [String(name), plainOf(one, depth + 1, looked)]),
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
