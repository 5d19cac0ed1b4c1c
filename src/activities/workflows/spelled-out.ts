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

/** What bytes of an address say; those that are no UTF-8 are one for each letter. */
function signsOfBytes(text: string): (readonly [sign: string, length: number])[] {
  const bytes = Buffer.from(text.replaceAll('%', ''), 'hex');
  const signs = bytes.toString();
  if (signs.includes('\uFFFD')) return [...bytes.toString('latin1')].map((sign) => [sign, 3]);
  return [...signs].map((sign) => [sign, 3 * Buffer.byteLength(sign)]);
}

/** The signs that are meant, each with how many characters it takes. */
function signsOf(written: string): (readonly [sign: string, length: number])[] {
  const { length } = written;
  const last = written.at(-1) ?? '';
  if (written.startsWith('%')) return signsOfBytes(written);
  if (/^\\u/i.test(written) && length === 6) {
    return [[String.fromCharCode(Number.parseInt(written.slice(2), 16)), length]];
  }
  if (written.startsWith('\\')) return [[inJson[last] ?? last, length]];
  const name = written.slice(1, -1).toLowerCase();
  const number = /^#(x?)(.*)$/.exec(name);
  if (!number) return [[inHtml[name] ?? '', length]];
  const [, x, digits = ''] = number;
  return [[signOf(Number.parseInt(digits, x === 'x' ? 16 : 10)), length]];
}

/** A text with each sign written as itself, and where each of its characters stands in what was written. */
export interface SpelledOut {
  readonly text: string;
  /** One more than it has characters: where it ends. */
  readonly places: readonly number[];
}

/** The texts that one may stand for, in each way to write signs. */
export const spelledOut = (written: string): SpelledOut[] =>
  spellings
    .filter(([begin]) => written.includes(begin))
    .map(([, form]) => spelledOutAs(form, written));

function spelledOutAs(form: RegExp, written: string): SpelledOut {
  const signs: string[] = [];
  const places: number[] = [];
  let from = 0;
  const add = (sign: string, length: number): void => {
    signs.push(sign);
    for (let unit = 0; unit < sign.length; unit += 1) places.push(from);
    from += length;
  };
  for (const { 0: one, index } of written.matchAll(form)) {
    while (from < index) add(written.charAt(from), 1);
    for (const [sign, length] of signsOf(one)) add(sign, length);
  }
  while (from < written.length) add(written.charAt(from), 1);
  places.push(from);
  return { text: signs.join(''), places };
}
