/** How signs are written that do not stand for themselves, by what begins it. */
const spellings: readonly (readonly [begin: string, form: RegExp])[] = [
  // In addresses and forms.
  ['%', /(?:%[0-9a-f]{2})+/gi],
  // In JSON.
  ['\\', /\\u[0-9a-f]{4}|\\[^u]/gi],
  // In HTML.
  ['&', /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|quot|apos|amp|lt|gt);/gi],
];

const inJson: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const inHtml: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
};

const signOf = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : '');

/** What bytes of an address say; undefined: they are no UTF-8, and one for each letter. */
function inUtf8(bytes: string): string | undefined {
  try {
    return decodeURIComponent(bytes);
  } catch {
    return undefined;
  }
}

const inLatin = (bytes: string): string =>
  Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('latin1');

/** What is meant by signs that are not written as themselves. */
function meant(written: string): string {
  if (written.startsWith('%')) return inUtf8(written) ?? inLatin(written);
  const last = written.at(-1) ?? '';
  if (/^\\u/i.test(written) && written.length === 6) {
    return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  }
  if (written.startsWith('\\')) return inJson[last] ?? last;
  const name = written.slice(1, -1).toLowerCase();
  const number = /^#(x?)(.*)$/.exec(name);
  if (!number) return inHtml[name] ?? '';
  const [, x, digits = ''] = number;
  return signOf(Number.parseInt(digits, x === 'x' ? 16 : 10));
}

/** The signs that are meant, each with how many characters it takes. */
function signsOf(written: string): (readonly [sign: string, length: number])[] {
  if (!written.startsWith('%')) return [[meant(written), written.length]];
  const isLatin = inUtf8(written) === undefined;
  return [...meant(written)].map((sign) => [sign, 3 * (isLatin ? 1 : Buffer.byteLength(sign))]);
}

/** A text with each sign written as itself. */
export interface SpelledOut {
  readonly text: string;
  /** Where each of its characters stands in what was written, and where that ends: rarely asked for. */
  places(): readonly number[];
}

/** The texts that one may stand for, in each way to write signs. */
export const spelledOut = (written: string): SpelledOut[] =>
  spellings
    .filter(([begin]) => written.includes(begin))
    .map(([, form]) => ({
      text: written.replace(form, meant),
      places: () => placesIn(written, form),
    }));

function placesIn(written: string, form: RegExp): number[] {
  const places: number[] = [];
  let from = 0;
  const add = (sign: string, length: number): void => {
    for (let unit = 0; unit < sign.length; unit += 1) places.push(from);
    from += length;
  };
  for (const { 0: one, index } of written.matchAll(form)) {
    while (from < index) add(written.charAt(from), 1);
    for (const [sign, length] of signsOf(one)) add(sign, length);
  }
  while (from < written.length) add(written.charAt(from), 1);
  return [...places, from];
}
