import { spelledOut } from './spelled-out.js';

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

type Range = readonly [from: number, to: number];

/** Where a text has one of these. */
function rangesOf(text: string, forms: readonly string[]): Range[] {
  const found: Range[] = [];
  for (const form of forms) {
    const { length } = form;
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + length)) {
      found.push([at, at + length]);
    }
  }
  return found;
}

/**
 * Hides secrets in what comes back from a server: whoever was sent one may repeat it, and an answer is
 * part of a history, a timeline, a message (docs/decisions/0416).
 */
export class HiddenSecrets {
  readonly #forms: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf))];
  }

  text(text: string): string {
    const ranges = rangesOf(text, this.#forms);
    // Encoders differ in which signs they leave as they are.
    for (const { text: plain, places } of spelledOut(text)) {
      for (const [from, to] of rangesOf(plain, this.#forms)) {
        ranges.push([places[from] ?? 0, places[to] ?? text.length]);
      }
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
  json(value: unknown): unknown {
    if (this.#forms.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number' || typeof value === 'boolean') {
      return this.#forms.includes(String(value)) ? hidden : value;
    }
    if (Array.isArray(value)) return value.map((one) => this.json(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [this.text(name), this.json(one)]),
    );
  }
}
