import { randomBytes } from 'node:crypto';
import { depthMax, endOfString, parseJson, storedDepthMax } from './json.js';
import { problem, type Problem } from '../problem.js';
import { Portions } from '../portions.js';

/** Shorter texts are parsed at once, in about a millisecond. */
export const portionedFrom = 64 * 1024;
const pieceLength = portionedFrom;
/** So much of a text is looked through before others may have their turn. */
const scannedLength = 256 * 1024;

/** What a text may have. */
interface TextLimits {
  readonly values: number;
  /** Of one text in it: parsing one takes long in itself. */
  readonly textLength: number;
  /**
   * Of one object. Whatever lists, sorts or copies members does so in one turn, and names that look like numbers
   * are sorted each time. Texts too short to be looked through cannot have as many.
   */
  readonly members: number;
  readonly depth: number;
}

const limitsOfBody = (values: number): TextLimits => ({
  values,
  textLength: 1024 * 1024,
  members: 16_000,
  depth: depthMax,
});

/** What we have written was within limits when it came, and lies in other parts now. */
const limitsOfStored: TextLimits = {
  values: Infinity,
  textLength: Infinity,
  members: Infinity,
  depth: storedDepthMax,
};

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
  readonly #limits: TextLimits;
  readonly #open: OpenPart[] = [];
  #index = 0;
  #values = 0;
  #root: LongPart | undefined;
  #rootEnd = -1;

  constructor(text: string, limits: TextLimits) {
    this.#text = text;
    this.#limits = limits;
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
    if (this.#values > this.#limits.values) {
      throw problem.validation(`The body has more than ${this.#limits.values} values.`);
    }
  }

  #enter(isObject: boolean): void {
    this.#count();
    const start = this.#index;
    this.#open.push({ start, isObject, commas: 0, pieceStart: start, splits: [], children: [] });
    const { depth } = this.#limits;
    if (this.#open.length > depth) {
      throw problem.validation(`The body nests deeper than ${depth} levels.`);
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
    const { textLength } = this.#limits;
    if (end - this.#index > textLength) {
      throw problem.validation(`The body has a text of more than ${textLength} characters.`);
    }
    this.#index = end;
  }

  #divide(): void {
    this.#count();
    const part = this.#open.at(-1);
    if (!part) return;
    part.commas += 1;
    const { members } = this.#limits;
    if (part.isObject && part.commas >= members) {
      throw problem.validation(`The body has an object with more than ${members} members.`);
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
  readonly #depth: number;
  readonly #portions = new Portions();

  constructor(text: string, { depth }: TextLimits) {
    this.#text = text;
    this.#depth = depth;
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
      this.#depth,
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
export const parseJsonInPortions = (text: string, valuesMax: number): Promise<unknown> =>
  parseWithin(text, limitsOfBody(valuesMax));

/** Reads a JSON text that we have written, of whatever length, as `parseStoredJson` does. */
export const parseStoredInPortions = (text: string): Promise<unknown> =>
  parseWithin(text, limitsOfStored);

async function parseWithin(text: string, limits: TextLimits): Promise<unknown> {
  if (text.length < pieceLength) return parseJson(text, limits.depth);
  const scanner = new Scanner(text, limits);
  const portions = new Portions();
  while (!scanner.isDone) {
    scanner.advance();
    await portions.rest();
  }
  const { root } = scanner;
  if (root) return new PartReader(text, limits).read(root);
  // One long text, or a short value with very many blanks around it, else no JSON at all.
  if (/^[ \t\n\r]*[[{]/.test(text.slice(0, pieceLength)) && text.trim().length > pieceLength) {
    throw invalid('it does not end where it should.');
  }
  return parseJson(text, limits.depth);
}
