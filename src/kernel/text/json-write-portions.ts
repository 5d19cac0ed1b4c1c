import { digestOfPieces } from '../id.js';
import { inPortions, Portions } from '../portions.js';
import {
  canonicalJson,
  isNumberObject,
  JsonText,
  jsonSafe,
  jsonWithDoubles,
  stringifyJson,
} from './json.js';

/** Members and characters that are written at once, in about a millisecond. */
const weightMax = 4_000;

/** Where something is written as a whole: it says itself how. */
const isWhole = (value: object): boolean =>
  isNumberObject(value) || value instanceof JsonText || value instanceof Date;

/** How much there is to write, at most a little above `most`. */
function weigh(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / 64;
  if (typeof value !== 'object' || value === null) return 1;
  if (isWhole(value)) return value instanceof JsonText ? 1 + value.text.length / 64 : 1;
  let weight = 1;
  if (Array.isArray(value)) {
    for (const item of value) {
      weight += weighMember(item, most - weight);
      if (weight > most) break;
    }
    return weight;
  }
  // Without a list of its members: most answers are small, and each is weighed. Of an array, `in` makes one.
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    weight += weighMember(members[name], most - weight);
    if (weight > most) break;
  }
  return weight;
}

const weighMember = (member: unknown, most: number): number =>
  typeof member === 'object' && member !== null
    ? weigh(member, most)
    : 1 + (typeof member === 'string' ? member.length / 64 : 0);

class PortionWriter {
  readonly pieces: string[] = [];
  readonly #portions = new Portions();

  /** Items of an array, as many at once as are light together. */
  async #writeItems(items: readonly unknown[]): Promise<void> {
    let from = 0;
    let weight = 0;
    const flush = async (to: number): Promise<void> => {
      if (to > from) {
        this.pieces.push(stringifyJson(items.slice(from, to)).slice(1, -1), ',');
        if (this.#portions.isOver) await this.#portions.rest();
      }
      from = to;
      weight = 0;
    };
    for (const [index, item] of items.entries()) {
      const added = weigh(item, weightMax);
      if (weight + added > weightMax) await flush(index);
      weight += added;
      if (added <= weightMax) continue;
      await this.write(item);
      this.pieces.push(',');
      from = index + 1;
      weight = 0;
    }
    await flush(items.length);
  }

  async #writeMembers(value: object): Promise<void> {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      this.pieces.push(`${JSON.stringify(name)}:`);
      await this.write(member);
      this.pieces.push(',');
    }
  }

  async write(value: unknown): Promise<void> {
    const isObject = typeof value === 'object' && value !== null && !isWhole(value);
    if (!isObject || weigh(value, weightMax) <= weightMax) {
      this.pieces.push(stringifyJson(value));
    } else {
      const isList = Array.isArray(value);
      this.pieces.push(isList ? '[' : '{');
      await (isList ? this.#writeItems(value) : this.#writeMembers(value));
      // Nothing so heavy is empty: the last piece is the comma behind its last member.
      this.pieces[this.pieces.length - 1] = isList ? ']' : '}';
    }
    if (this.#portions.isOver) await this.#portions.rest();
  }
}

/** Whether a value takes longer than a portion. */
const isHeavy = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !isWhole(value) &&
  weigh(value, weightMax) > weightMax;

/** A value made anew, much of it in portions: `make` does it at once, and part by part gives the same. */
async function madeInPortions(value: unknown, make: (part: unknown) => unknown): Promise<unknown> {
  const portions = new Portions();
  const made = async (part: object): Promise<unknown> => {
    const members: [string, unknown][] = [];
    // Most parts are light, and made without a promise of their own.
    for (const [name, member] of Object.entries(part)) {
      members.push([name, isHeavy(member) ? await made(member) : make(member)]);
      if (portions.isOver) await portions.rest();
    }
    return Array.isArray(part) ? members.map(([, item]) => item) : Object.fromEntries(members);
  };
  return isHeavy(value) ? await made(value) : make(value);
}

/** A value as `jsonSafe` makes it, much of it in portions. */
export const jsonSafeInPortions = (value: unknown): Promise<unknown> =>
  madeInPortions(value, jsonSafe);

/** A value as `jsonWithDoubles` makes it, much of it in portions. */
export const jsonWithDoublesInPortions = (value: unknown): Promise<unknown> =>
  madeInPortions(value, jsonWithDoubles);

/** The text of `canonicalJson` piece by piece, each of them written in about a millisecond. */
export function* canonicalPieces(value: unknown): Generator<string, void, undefined> {
  if (!isHeavy(value)) {
    yield canonicalJson(value);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield index === 0 ? '[' : ',';
      yield* canonicalPieces(item);
    }
    yield ']';
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    const names = Object.keys(members).sort();
    for (const [index, name] of names.entries()) {
      yield `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`;
      yield* canonicalPieces(members[name]);
    }
    yield '}';
  }
}

/** The SHA-256 of a value's canonical JSON, in hexadecimal digits; a long one's in portions. */
export const canonicalDigest = (value: unknown): Promise<string> =>
  inPortions(digestOfPieces(canonicalPieces(value)));

/** Of a longer list some items are looked at, where all of its items are much alike. */
const sampledLength = 8;

/** About how much there is to write, for the price of looking at a few items of a page. */
function guess(value: unknown): number {
  if (typeof value !== 'object' || value === null || isWhole(value)) return weigh(value, weightMax);
  if (Array.isArray(value) && value.length > sampledLength) {
    const sample = [value[0], value[value.length >> 1], value.at(-1)];
    return (guess(sample) * value.length) / sample.length;
  }
  const members = value as Readonly<Record<string, unknown>>;
  let weight = 1;
  for (const name in members) {
    const member = members[name];
    weight +=
      typeof member === 'object' && member !== null ? guess(member) : weighMember(member, 1);
    if (weight > weightMax) break;
  }
  return weight;
}

/**
 * Writes JSON as `stringifyJson` does, much of it in portions. `isUneven`: its lists hold what callers
 * have made, of which one item may weigh as much as all others. A promise only where there is much.
 */
export function stringifyJsonInPortions(
  value: unknown,
  { isUneven = false } = {},
): string | Promise<string> {
  const weight = isUneven ? weigh(value, weightMax) : guess(value);
  return weight <= weightMax ? stringifyJson(value) : writeInPortions(value);
}

async function writeInPortions(value: unknown): Promise<string> {
  const writer = new PortionWriter();
  await writer.write(value);
  return writer.pieces.join('');
}
