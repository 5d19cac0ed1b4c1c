/** Text that `ilike` finds anywhere; `%` and `_` stand for themselves. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * The word of a searched text by which an index finds few rows: the longest one with a digit, where
 * there are others. What stands before each number, such as `Account` or `INV`, is in every row, and
 * the index would read all that it has of it (docs/decisions/0153).
 */
export function tellingWord(text: string): string | undefined {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [longest] = words
    .filter((word) => /\p{N}/u.test(word) && word.length >= wordLengthMin)
    .sort((a, b) => b.length - a.length);
  return words.length > 1 ? longest : undefined;
}

/** An index knows texts by three characters in a row. */
const wordLengthMin = 3;

/**
 * The condition "one of the columns contains the text, in any letter case". `bind` keeps a value and
 * gives its placeholder. Where a word tells more than the rest, it alone is looked up: no index is
 * asked for an expression, so the whole is compared in the few rows that the word has found.
 *
 * Of `name` and the text `Account 48291`:
 * `(name ilike $2) and ((name || '') ilike $3)` with `%48291%` and `%Account 48291%`.
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
