import { inPortions } from '../../kernel/portions.js';
import { TextRanges } from '../../kernel/text/text-ranges.js';
import { spelledOut } from './spelled-out.js';
import { marksSought } from './text-marks.js';

const hidden = '***';

/** A secret in the forms in which servers repeat what they were sent. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    // Headers know one byte for each letter: what is read as the other of the two looks like this.
    bytes.toString('latin1'),
    Buffer.from(secret, 'latin1').toString('utf8'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    // As forms have it.
    secret.replaceAll(' ', '+'),
  ];
}

/**
 * Hides secrets in what comes back from a server: whoever was sent one may repeat it, and an answer is
 * part of a history, a timeline, a message (docs/decisions/0416).
 */
export class HiddenSecrets {
  readonly #forms: readonly string[];
  readonly #ranges: TextRanges;

  constructor(secrets: readonly string[]) {
    this.#forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf))];
    this.#ranges = new TextRanges(this.#forms);
  }

  /** Whatever has a secret in it has one of these among its marks (`marksOf`). */
  get marks(): readonly string[] {
    return marksSought(this.#forms);
  }

  /** In portions, since there may be many secrets, and an answer may be long. */
  text(text: string): Promise<string> {
    return inPortions(this.#text(text));
  }

  *#text(text: string): Generator<undefined, string, undefined> {
    const ranges = yield* this.#ranges.in(text);
    // Encoders differ in which signs they leave as they are.
    for (const plain of spelledOut(text)) {
      const found = yield* this.#ranges.in(plain.text);
      if (found.length === 0) continue;
      const places = plain.places();
      for (const [from, to] of found) ranges.push([places[from] ?? 0, places[to] ?? text.length]);
    }
    let shown = '';
    let done = 0;
    for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
      if (from >= done) shown += text.slice(done, from) + hidden;
      done = Math.max(done, to);
    }
    return shown + text.slice(done);
  }

  /** The same in names and texts of JSON; a number may be a secret, too. */
  json(value: unknown): Promise<unknown> {
    return inPortions(this.#json(value));
  }

  *#json(value: unknown): Generator<undefined, unknown, undefined> {
    if (this.#forms.length === 0) return value;
    yield;
    if (typeof value === 'string') return yield* this.#text(value);
    if (typeof value === 'number' || typeof value === 'boolean') {
      return this.#forms.includes(String(value)) ? hidden : value;
    }
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      for (const one of value) list.push(yield* this.#json(one));
      return list;
    }
    if (typeof value !== 'object' || value === null) return value;
    const members: [string, unknown][] = [];
    for (const [name, one] of Object.entries(value)) {
      members.push([yield* this.#text(name), yield* this.#json(one)]);
    }
    return Object.fromEntries(members);
  }
}
