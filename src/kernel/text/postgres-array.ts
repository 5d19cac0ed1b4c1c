const special = /["\\]/;

/** An element of an array literal: text in quotes, since it may hold what means something there. */
function textElement(value: string): string {
  return special.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}

/**
 * Values as the text of a PostgreSQL array, to be sent as one parameter. `isText` for types whose
 * values may hold quotes, commas or braces; others (numbers, UUIDs, dates) are written as they are.
 */
export function arrayLiteral(values: readonly (string | number | null)[], isText = false): string {
  let literal = '';
  for (const value of values) {
    literal += literal === '' ? '{' : ',';
    if (value === null) literal += 'NULL';
    else literal += isText ? textElement(String(value)) : String(value);
  }
  return literal === '' ? '{}' : `${literal}}`;
}

/** The record separator of ASCII: JSON writes it as an escape, so that it stands in no JSON text. */
const separator = '\u001E';

/** The separator in SQL. */
export const jsonSeparatorSql = `'${separator}'`;

/** The group separator, of which the same is true. */
const groupSeparator = '\u001D';

/** How SQL takes apart what `joinJson` has joined, and what `joinGroups` has. */
export const splitJsonSql = `string_to_array(?, '${separator}')`;
export const splitGroupsSql = `string_to_array(?, '${groupSeparator}')`;

/** SQL for one of the JSON texts in a column, counted from 1. */
export const oneJsonSql = (column: string, number: string): string =>
  `split_part(${column}, '${separator}', ${number})`;

/** What `joinJson` has joined. */
export const splitJson = (joined: string): string[] => joined.split(separator);

/** Joined JSON texts, or empty ones, as one parameter. */
export const joinGroups = (groups: readonly string[]): string => groups.join(groupSeparator);

/**
 * JSON texts as one parameter: cheaper than an array, whose quotes would all have to be escaped. Null
 * when one of them is no JSON and holds the separator.
 */
export function joinJson(texts: readonly string[]): string | null {
  const isJson = (text: string) => !text.includes(separator) && !text.includes(groupSeparator);
  return texts.every(isJson) ? texts.join(separator) : null;
}
