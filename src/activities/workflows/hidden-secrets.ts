const hidden = '***';

const percent = (text: string): string =>
  // An unpaired surrogate has no such form.
  text.isWellFormed() ? encodeURIComponent(text) : text;

/** A secret in the forms in which servers repeat what they were sent. */
function formsOf(secret: string): string[] {
  const encoded = percent(secret);
  const bytes = Buffer.from(secret);
  return [
    secret,
    // Headers know one byte for each letter: what is read as the other of the two looks like this.
    bytes.toString('latin1'),
    Buffer.from(secret, 'latin1').toString('utf8'),
    JSON.stringify(secret).slice(1, -1),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
  ];
}

/**
 * Hides secrets in what comes back from a server: whoever was sent one may repeat it, and an answer is
 * part of a history, a timeline, a message (docs/decisions/0416).
 */
export class HiddenSecrets {
  readonly #forms: readonly string[];

  constructor(secrets: readonly string[]) {
    const all = new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf));
    // A secret may be part of another one: the longest first.
    this.#forms = [...all].sort((one, other) => other.length - one.length);
  }

  text(text: string): string {
    return this.#forms.reduce((rest, form) => rest.replaceAll(form, hidden), text);
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
