import { randomBytes } from 'node:crypto';
import {
  isNumberObject,
  JsonText,
  depthMax,
  endOfString,
  jsonSafe,
  parseJson,
  stringifyJson,
} from './json.js';
import { problem, type Problem } from '../problem.js';
import { Portions } from '../portions.js';

/** Shorter texts are parsed at once, in about a millisecond. */
export const portionedFrom = 64 * 1024;
const pieceLength = portionedFrom;
/** So much of a text is looked through before others may have their turn. */
const scannedLength = 256 * 1024;
/** Nothing of ours holds a longer one; parsing one takes long in itself. */
const textLengthMax = 1024 * 1024;

/**
 * Members of one object. Whatever lists, sorts or copies them does so in one turn, and names that look
 * like numbers are sorted each time. Texts too short to be looked through cannot have as many.
 */
const membersMax = 16_000;

/** An object or array of a text that is too long to be parsed at once, and where to take it apart. */
interface LongPart {
  readonly start: number;
  readonly end: number;
  /** The commas between its pieces. */
  readonly splits: readonly number[];
  readonly children: readonly LongPart[];
}

interface OpenPart {
  readonly start: number;
  readonly isObject: boolean;
  /** Its commas so far. */
  commas: number;
  pieceStart: number;
  readonly splits: number[];
  readonly children: LongPart[];
}

const invalid = (reason: string): Problem =>
  problem.validation(`The body is not valid JSON: ${reason}`);

const blank = /^[ \t\n\r]*$/;

/** Looks through a text once: how deep it nests, how many values it has, where it may be divided. */
class Scanner {
  readonly #text: string;
  readonly #valuesMax: number;
  readonly #open: OpenPart[] = [];
  #index = 0;
  #values = 0;
  #root: LongPart | undefined;
  #rootEnd = -1;

  constructor(text: string, valuesMax: number) {
    this.#text = text;
    this.#valuesMax = valuesMax;
  }

  get isDone(): boolean {
    return this.#index >= this.#text.length;
  }

  /** The outermost object or array; undefined: the text is short, or not valid. */
  get root(): LongPart | undefined {
    const { start = 0, end = -1 } = this.#root ?? {};
    const isAlone =
      this.#open.length === 0 &&
      this.#rootEnd === end &&
      blank.test(this.#text.slice(0, start)) &&
      blank.test(this.#text.slice(end + 1));
    return isAlone ? this.#root : undefined;
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > this.#valuesMax) {
      throw problem.validation(`The body has more than ${this.#valuesMax} values.`);
    }
  }

  #enter(isObject: boolean): void {
    this.#count();
    const start = this.#index;
    this.#open.push({ start, isObject, commas: 0, pieceStart: start, splits: [], children: [] });
    if (this.#open.length > depthMax) {
      throw problem.validation(`The body nests deeper than ${depthMax} levels.`);
    }
  }

  #leave(): void {
    const part = this.#open.pop();
    if (!part) throw invalid('it ends something that was not begun.');
    const parent = this.#open.at(-1);
    const end = this.#index;
    if (!parent) this.#rootEnd = end;
    if (end - part.start < pieceLength) return;
    const long = { start: part.start, end, splits: part.splits, children: part.children };
    if (parent) parent.children.push(long);
    else this.#root ??= long;
  }

  #skipText(): void {
    const end = endOfString(this.#text, this.#index);
    if (end - this.#index > textLengthMax) {
      throw problem.validation(`The body has a text of more than ${textLengthMax} characters.`);
    }
    this.#index = end;
  }

  #divide(): void {
    this.#count();
    const part = this.#open.at(-1);
    if (!part) return;
    part.commas += 1;
    if (part.isObject && part.commas >= membersMax) {
      throw problem.validation(`The body has an object with more than ${membersMax} members.`);
    }
    if (this.#index - part.pieceStart < pieceLength) return;
    part.splits.push(this.#index);
    part.pieceStart = this.#index;
  }

  /** Looks through the next part of the text. */
  advance(): void {
    const most = this.#index + scannedLength;
    for (; this.#index < this.#text.length && this.#index < most; this.#index += 1) {
      switch (this.#text.charCodeAt(this.#index)) {
        case 34:
          this.#skipText();
          break;
        case 44:
          this.#divide();
          break;
        case 91:
          this.#enter(false);
          break;
        case 123:
          this.#enter(true);
          break;
        case 93:
        case 125:
          this.#leave();
      }
    }
  }
}

/** Unguessable, so that no text of a caller stands for a part. */
const mark = randomBytes(12).toString('hex');

const beforeColon = /[ \t\n\r]*:/y;

type Container = unknown[] | Record<string, unknown>;

/** Assigning to this name would change what the object inherits from. */
function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else {
    const own = { configurable: true, enumerable: true, writable: true, value };
    Object.defineProperty(target, name, own);
  }
}

class PartReader {
  readonly #text: string;
  readonly #portions = new Portions();

  constructor(text: string) {
    this.#text = text;
  }

  /** A piece as JSON of its own, with a mark in place of each long part within it. */
  #pieceText(from: number, to: number, children: readonly LongPart[]): string {
    const texts: string[] = [];
    let next = from;
    children.forEach(({ start, end }, index) => {
      // A long part in place of a name would otherwise become one.
      beforeColon.lastIndex = end + 1;
      if (beforeColon.test(this.#text)) throw invalid('a name is no text.');
      texts.push(this.#text.slice(next, start), `"${mark}${index}"`);
      next = end + 1;
    });
    return texts.join('') + this.#text.slice(next, to);
  }

  async #readPiece(
    part: LongPart,
    [from, to]: readonly [number, number],
    into: Container,
  ): Promise<void> {
    const within = part.children.filter(({ start }) => start >= from && start < to);
    const piece = this.#pieceText(from, to, within);
    if (part.splits.length > 0 && blank.test(piece)) throw invalid('a value is missing.');
    const parsed = parseJson(
      `${this.#text.charAt(part.start)}${piece}${this.#text.charAt(part.end)}`,
    ) as Container;
    if (this.#portions.isOver) await this.#portions.rest();
    const valueOf = (value: unknown) =>
      within.length > 0 && typeof value === 'string' && value.startsWith(mark)
        ? this.read(within[Number(value.slice(mark.length))] as LongPart)
        : value;
    if (Array.isArray(parsed) && Array.isArray(into)) {
      for (const value of parsed) {
        const whole = valueOf(value);
        into.push(whole instanceof Promise ? await whole : whole);
      }
    } else if (!Array.isArray(parsed) && !Array.isArray(into)) {
      for (const [name, value] of Object.entries(parsed)) {
        const whole = valueOf(value);
        setMember(into, name, whole instanceof Promise ? await whole : whole);
      }
    }
  }

  async read(part: LongPart): Promise<Container> {
    const into: Container = this.#text.charAt(part.start) === '[' ? [] : {};
    const ends = [...part.splits, part.end];
    for (const [index, end] of ends.entries()) {
      const start = index === 0 ? part.start : (part.splits[index - 1] as number);
      await this.#readPiece(part, [start + 1, end], into);
    }
    return into;
  }
}

/**
 * Reads a JSON text as `parseJson` does, a long one in portions, so that the event loop goes on. 400:
 * it is no JSON, nests too deep, or has more values or members than may be worked on.
 */
export async function parseJsonInPortions(text: string, valuesMax: number): Promise<unknown> {
  if (text.length < pieceLength) return parseJson(text);
  const scanner = new Scanner(text, valuesMax);
  const portions = new Portions();
  while (!scanner.isDone) {
    scanner.advance();
    await portions.rest();
  }
  const { root } = scanner;
  if (root) return new PartReader(text).read(root);
  // One long text, or a short value with very many blanks around it, else no JSON at all.
  if (/^[ \t\n\r]*[[{]/.test(text.slice(0, pieceLength)) && text.trim().length > pieceLength) {
    throw invalid('it does not end where it should.');
  }
  return parseJson(text);
}

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

/** A value as `jsonSafe` makes it, much of it in portions. */
export async function jsonSafeInPortions(value: unknown): Promise<unknown> {
  const portions = new Portions();
  const safe = async (part: unknown): Promise<unknown> => {
    if (typeof part !== 'object' || part === null || isWhole(part)) return jsonSafe(part);
    if (weigh(part, weightMax) <= weightMax) {
      if (portions.isOver) await portions.rest();
      return jsonSafe(part);
    }
    if (Array.isArray(part)) {
      const items: unknown[] = [];
      for (const item of part) items.push(await safe(item));
      return items;
    }
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(part)) members.push([name, await safe(member)]);
    return Object.fromEntries(members);
  };
  return safe(value);
}

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
