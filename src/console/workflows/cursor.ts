/** JSON as far as it is written: objects by their members, lists, and texts. */
export type Part =
  | { readonly kind: 'object'; readonly members: Map<string, Part> }
  | { readonly kind: 'list'; readonly items: Part[] }
  | { readonly kind: 'text'; readonly text: string };

/** Where in a text the cursor stands, and what is written there. */
export interface Cursor {
  /** The whole of the text, without what is written at the cursor. */
  readonly root: Part | undefined;
  /** Names and places, from the outermost: of what the cursor is in, and of a value its own. */
  readonly path: readonly string[];
  readonly expects: 'name' | 'value';
  /** What is written there before the cursor, without its quote. */
  readonly typed: string;
  /** What a completion takes the place of. */
  readonly from: number;
  readonly to: number;
  /** Whether a colon follows: of a name that has its value. */
  readonly hasValue: boolean;
}

/** A text ends with its line: while it is typed, its second quote is not there yet. */
const token = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g;

function textOf(word: string): string {
  if (!word.startsWith('"')) return word;
  try {
    return String(JSON.parse(word.length > 1 && word.endsWith('"') ? word : `${word}"`));
  } catch {
    return word.slice(1);
  }
}

interface Level {
  readonly part: Exclude<Part, { readonly kind: 'text' }>;
  name: string | undefined;
}

type Expected = Cursor['expects'] | 'none';
type Found = Omit<Cursor, 'root' | 'hasValue'>;

/** Reads JSON that may be broken anywhere, up to its end, and finds a place in it on the way. */
class Reader {
  readonly #at: number;
  readonly #levels: Level[] = [];
  #expects: Expected = 'value';
  root: Part | undefined;
  found: Found | undefined;

  constructor(at: number) {
    this.#at = at;
  }

  #put(part: Part): void {
    const level = this.#levels.at(-1);
    if (!level) this.root ??= part;
    else if (level.part.kind === 'list') level.part.items.push(part);
    else if (level.name !== undefined) level.part.members.set(level.name, part);
  }

  /** The cursor is here, where these characters are. */
  #find(typed: string, from: number, to: number): void {
    if (this.found || this.#expects === 'none') return;
    // What a list is read in is its last item already; what comes next is not.
    const next = this.#levels.length - 1;
    const steps = this.#levels.map(({ part, name }, depth) =>
      part.kind === 'list' ? String(part.items.length - (depth < next ? 1 : 0)) : (name ?? ''),
    );
    const path = this.#expects === 'name' ? steps.slice(0, -1) : steps;
    this.found = { path, expects: this.#expects, typed, from, to };
  }

  /** Whether a text or another word is what the cursor is in. */
  #isAtCursor(word: string, at: number): boolean {
    const end = at + word.length;
    const isClosed = word.length > 1 && word.endsWith('"');
    return this.#at > at && (word.startsWith('"') && isClosed ? this.#at < end : this.#at <= end);
  }

  #open(part: Level['part']): void {
    this.#put(part);
    this.#levels.push({ part, name: undefined });
    this.#expects = part.kind === 'list' ? 'value' : 'name';
  }

  #word(word: string, at: number): void {
    const typed = textOf(word);
    const level = this.#levels.at(-1);
    if (this.#isAtCursor(word, at)) {
      this.#find(textOf(word.slice(0, this.#at - at)), at, at + word.length);
    } else if (this.#expects === 'name' && level) level.name = typed;
    else if (this.#expects === 'value') this.#put({ kind: 'text', text: typed });
    this.#expects = 'none';
  }

  read(word: string, at: number): void {
    if (this.#at <= at) this.#find('', this.#at, this.#at);
    if (word === '{') this.#open({ kind: 'object', members: new Map() });
    else if (word === '[') this.#open({ kind: 'list', items: [] });
    else if (word === '}' || word === ']') {
      this.#levels.pop();
      this.#expects = 'none';
    } else if (word === ',') {
      const level = this.#levels.at(-1);
      if (level) level.name = undefined;
      this.#expects = level?.part.kind === 'object' ? 'name' : 'value';
    } else if (word === ':') this.#expects = 'value';
    else this.#word(word, at);
  }

  end(): void {
    this.#find('', this.#at, this.#at);
  }
}

/**
 * What of a word the cursor is in: where its second quote is not there yet, it would reach to the first one of
 * what comes next.
 */
function wordAt(word: string, from: number): string {
  const [rest = ''] = /^[^\s"{}[\],:]*"?/.exec(word.slice(from)) ?? [];
  return word.slice(0, from) + rest;
}

/** What the cursor of a JSON text stands in; undefined: where neither a name nor a value goes. */
export function cursorOf(text: string, at: number): Cursor | undefined {
  const reader = new Reader(at);
  const words = new RegExp(token);
  for (let found = words.exec(text); found; found = words.exec(text)) {
    const { 0: whole, index } = found;
    const isIn = whole.startsWith('"') && index < at && at < index + whole.length;
    const word = isIn ? wordAt(whole, at - index) : whole;
    reader.read(word, index);
    words.lastIndex = index + word.length;
  }
  reader.end();
  const { found, root } = reader;
  return found && { ...found, root, hasValue: /^\s*:/.test(text.slice(found.to)) };
}
