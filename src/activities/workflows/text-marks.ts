import { spelledOut } from './spelled-out.js';

/** Bits of the marks of what is short, and of what is longer. */
const sizes = [2_048, 8_192, 32_768] as const;

/** Runs of so many characters are marked, and shorter ones for what is shorter. */
const runMax = 3;

/** The texts of JSON as secrets are looked for in them, in each way to read their signs. */
function* textsIn(value: unknown): Generator<string, void, undefined> {
  if (typeof value === 'string') {
    yield value;
    for (const { text } of spelledOut(value)) yield text;
  } else if (typeof value === 'number' || typeof value === 'boolean') {
    yield String(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      yield* textsIn(name);
      yield* textsIn(one);
    }
  }
}

/** Sets the bit of each run of so many characters; there are 2^32 / `part` bits. */
function markRuns(bytes: Uint8Array, part: number, text: string, length: number): void {
  for (let at = 0; at + length <= text.length; at += 1) {
    let hash = length;
    for (let each = at; each < at + length; each += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(each), 0x9e_37_79_b1);
      hash ^= hash >>> 15;
    }
    const bit = Math.floor((Math.imul(hash, 0x85_eb_ca_6b) >>> 0) / part);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  }
}

/** As PostgreSQL reads bits. */
function bitsOf(size: number, mark: (bytes: Uint8Array, part: number) => void): string {
  const bytes = Buffer.alloc(size / 8);
  mark(bytes, 2 ** 32 / size);
  return `x${bytes.toString('hex')}`;
}

/**
 * Marks of what values in JSON are made of. Whatever has a text in it has all marks of that text
 * (`marksSought`); what has them all has it rarely when it has it not.
 */
export function marksOf(values: readonly unknown[]): string {
  const texts = [...textsIn(values)];
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const size = sizes.find((one) => length <= one / 2) ?? sizes[2];
  return bitsOf(size, (bytes, part) => {
    for (const text of texts) {
      for (let run = 1; run <= runMax; run += 1) markRuns(bytes, part, text, run);
    }
  });
}

/** The marks that whatever has one of these texts must have, for each of the sizes. */
export const marksSought = (texts: readonly string[]): string[] =>
  texts.flatMap((text) =>
    sizes.map((size) =>
      bitsOf(size, (bytes, part) => markRuns(bytes, part, text, Math.min(text.length, runMax))),
    ),
  );
