/** A stretch of text in one font. */
export interface TextRun {
  readonly text: string;
  readonly font: 'Latin' | 'Han' | 'Hangul';
}

/** Chinese and Japanese signs, with their punctuation and full-width forms. */
const han =
  /[\u2E80-\u30FF\u31C0-\u31EF\u3200-\u9FFF\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFFEF\u{20000}-\u{3FFFF}]/u;
/** Korean letters and syllables. */
const hangul = /[\u1100-\u11FF\u3130-\u318F\uA960-\uA97F\uAC00-\uD7FF]/u;
/** Control and direction signs, which no font shows. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}]/gu;

/** Divides a text by the fonts that have its signs. */
export function textRuns(text: string): TextRun[] {
  const runs: { text: string; font: TextRun['font'] }[] = [];
  for (const sign of text.replace(unseen, '')) {
    const font = hangul.test(sign) ? 'Hangul' : han.test(sign) ? 'Han' : 'Latin';
    const last = runs.at(-1);
    if (last?.font === font) last.text += sign;
    else runs.push({ text: sign, font });
  }
  return runs;
}
