/** Text that `ilike` finds anywhere; `%` and `_` stand for themselves. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * The most selective word of a searched text for an index: the longest one with a digit, if there
 * are several words. Words before numbers, such as `Account` or `INV`, are in every row, and the
 * index would read all of their entries (docs/decisions/0153).
 */
export function tellingWord(text: string): string | undefined {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [longest] = words
    .filter((word) => /\p{N}/u.test(word) && word.length >= wordLengthMin)
    .sort((a, b) => b.length - a.length);
  return words.length > 1 ? longest : undefined;
}

/** A trigram index needs three characters in a row. */
const wordLengthMin = 3;

/**
 * The condition "one of the columns contains the text, in any letter case". `bind` adds a value and
 * returns its placeholder. If one word is more selective, the index is asked for that word alone,
 * and the whole text is compared in the few rows found; an expression over columns has no index.
 * Of `name` and the text `Account 48291`: `(name ilike $2) and ((name || '') ilike $3)` with
 * `%48291%` and `%Account 48291%`.
 */
export function searchSql(
  columns: readonly string[],
  text: string,
  bind: (value: string) => string,
): string {
  const contains = (expressions: readonly string[], searched: string): string =>
    `(${expressions.map((one) => `${one} ilike ${bind(patternOf(searched))}`).join(' or ')})`;
  const word = tellingWord(text);
  if (word === undefined) return contains(columns, text);
  const compared = columns.map((column) => `(${column} || '')`);
  return `${contains(columns, word)} and ${contains(compared, text)}`;
}
