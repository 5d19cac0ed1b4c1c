import bidiFactory, { type Bidi } from 'bidi-js';
import type { FontName } from './fonts.js';

/** A stretch of text in one font and, where it is drawn, in one direction. */
export interface TextRun {
  readonly text: string;
  readonly font: FontName;
}

const scripts: readonly (readonly [FontName, RegExp])[] = [
  // Korean letters and syllables.
  ['Hangul', /[\u1100-\u11FF\u3130-\u318F\uA960-\uA97F\uAC00-\uD7FF]/u],
  // Chinese and Japanese signs, with their punctuation and full-width forms.
  [
    'Han',
    /[\u2E80-\u30FF\u31C0-\u31EF\u3200-\u9FFF\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFFEF\u{20000}-\u{3FFFF}]/u,
  ],
  // With the joiners, which Persian writes within words.
  [
    'Arabic',
    /[\u0600-\u06FF\u0750-\u077F\u0870-\u08FF\uFB50-\uFDFF\uFE70-\uFEFE]|(?<=[\u0600-\u06FF])[\u200C\u200D](?=[\u0600-\u06FF])/u,
  ],
  ['Hebrew', /[\u0590-\u05FF\uFB1D-\uFB4F]/u],
];
const joiner = /[\u200C\u200D]/;
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE]/u;
const onlyLatin = /^[\n\u0020-\u007E\u00A0-\u024F\u0370-\u052F\u2010-\u2027\u20A0-\u20BF]*$/;
/** Control and direction signs, which no font shows; joiners count where Arabic letters join. */
const unseen =
  /(?!\n)(?![\u200C\u200D])[\p{Cc}\p{Cf}]|(?<![\u0600-\u06FF])[\u200C\u200D]|[\u200C\u200D](?![\u0600-\u06FF])/gu;

/** A text without the signs that no font shows, and with accents on their letters. */
export const seenText = (text: string): string =>
  onlyLatin.test(text) ? text : text.normalize('NFC').replace(unseen, '');

/** Divides a text by the fonts that have its signs, in the order in which it is read. */
export function textRuns(text: string): TextRun[] {
  if (text === '') return [];
  if (onlyLatin.test(text)) return [{ text, font: 'Latin' }];
  const runs: { text: string; font: FontName }[] = [];
  for (const sign of text) {
    const last = runs.at(-1);
    const font =
      last && joiner.test(sign)
        ? last.font
        : (scripts.find(([, signs]) => signs.test(sign))?.[0] ?? 'Latin');
    if (last?.font === font) last.text += sign;
    else runs.push({ text: sign, font });
  }
  return runs;
}

// Its types describe another module format than the one that Node loads.
const bidi = (bidiFactory as unknown as () => Bidi)();
const isOdd = (level: number): boolean => level % 2 === 1;

/**
 * The runs of a line from left to right, as they are drawn: words in Arabic and Hebrew follow each
 * other from the right, numbers between them as usual (Unicode UAX #9). The line is of a document
 * that reads from left to right, whatever it begins with.
 */
export function drawnRuns(line: string): TextRun[] {
  if (!rightToLeft.test(line)) return textRuns(line);
  const { levels } = bidi.getEmbeddingLevels(line, 'ltr');
  const runs: (TextRun & { readonly level: number })[] = [];
  let at = 0;
  for (const { text, font } of textRuns(line)) {
    // Words apart: a shaper turns around a word, not a sentence.
    for (const word of text.match(/\s+|\S+/g) ?? []) {
      for (const { text: part, level } of ofOneLevel(word, levels.subarray(at))) {
        for (const each of drawnParts(part, font, level)) runs.push({ text: each, font, level });
      }
      at += word.length;
    }
  }
  return reordered(runs);
}

function ofOneLevel(text: string, levels: Uint8Array): { text: string; level: number }[] {
  const parts: { text: string; level: number }[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const [level, last] = [levels[at] ?? 0, parts.at(-1)];
    if (last?.level === level) last.text += text.charAt(at);
    else parts.push({ text: text.charAt(at), level });
  }
  return parts;
}

/** What of a word is drawn apart: the shaper goes by the script, and turns all Arabic around. */
function drawnParts(part: string, font: FontName, level: number): string[] {
  if (isOdd(level)) return [rightToLeft.test(part) ? part : mirrored(part)];
  // Arabic digits, which are read from left to right.
  return font === 'Latin' ? [part] : [...part];
}

/** Signs without a direction of their own, turned around with the words beside them. */
const mirrored = (text: string): string =>
  [...text]
    .reverse()
    .map((sign) => bidi.getMirroredCharacter(sign) ?? sign)
    .join('');

/** Rule L2: from the highest level down, what is at least so high is turned around. */
function reordered<T extends { readonly level: number }>(runs: readonly T[]): T[] {
  const result = [...runs];
  const highest = Math.max(...runs.map(({ level }) => level));
  for (let level = highest; level >= 1; level -= 1) {
    for (let from = 0; from < result.length; from += 1) {
      let to = from;
      while ((result[to]?.level ?? 0) >= level) to += 1;
      if (to > from) result.splice(from, to - from, ...result.slice(from, to).reverse());
      from = to;
    }
  }
  return result;
}
