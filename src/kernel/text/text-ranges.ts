type Range = readonly [from: number, to: number];

/** What is as long is looked through for one form at a time. */
const longText = 1_000;

/** So much of a text is looked through at once. */
const pieceLength = 4_096;

/** What is longer is looked for sign by sign: built in, it may cost as many steps as both are long, multiplied. */
const shortLength = 64;

/** Of each beginning of a form, how long the longest is with which it ends again (Knuth, Morris and Pratt). */
function bordersOf(form: string): Uint16Array {
  const borders = new Uint16Array(form.length);
  let length = 0;
  for (let at = 1; at < form.length; at += 1) {
    const code = form.charCodeAt(at);
    while (length > 0 && form.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (form.charCodeAt(length) === code) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** Where a text has any of some forms, in as many steps as it is long for each of them. */
export class TextRanges {
  readonly #forms: readonly string[];
  readonly #borders = new Map<string, Uint16Array>();

  constructor(forms: readonly string[]) {
    this.#forms = forms;
  }

  /** Those of one form do not overlap. Yields after each form, and each piece, of a long text. */
  *in(text: string): Generator<undefined, Range[], undefined> {
    const found: Range[] = [];
    for (const form of this.#forms) {
      if (form.length > text.length) continue;
      const isLong = form.length > shortLength;
      const ranges = isLong ? yield* this.#long(text, form) : this.#short(text, form);
      for (const range of ranges) found.push(range);
      if (text.length >= longText) yield;
    }
    return found;
  }

  #short(text: string, form: string): Range[] {
    const { length } = form;
    const found: Range[] = [];
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + length)) {
      found.push([at, at + length]);
    }
    return found;
  }

  *#long(text: string, form: string): Generator<undefined, Range[], undefined> {
    const found: Range[] = [];
    const first = text.indexOf(form.slice(0, shortLength));
    if (first < 0) return found;
    const borders = this.#bordersOf(form);
    let length = 0;
    for (let at = first; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      while (length > 0 && form.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
      if (form.charCodeAt(length) === code) length += 1;
      if (length === form.length) {
        found.push([at + 1 - length, at + 1]);
        length = 0;
      }
      if (at % pieceLength === pieceLength - 1) yield;
    }
    return found;
  }

  #bordersOf(form: string): Uint16Array {
    const known = this.#borders.get(form) ?? bordersOf(form);
    this.#borders.set(form, known);
    return known;
  }
}
