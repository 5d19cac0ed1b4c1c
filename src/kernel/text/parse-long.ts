import { parseStoredInPortions } from './json-portions.js';

/** Longer texts are parsed in portions. */
const parsedAtOnce = 256 * 1024;

/**
 * Parses JSON that we have written; a long text in portions, so that the event loop is not blocked. A promise only
 * where it is long.
 */
export const parseLong = <T>(text: string): T | Promise<T> =>
  text.length > parsedAtOnce
    ? (parseStoredInPortions(text) as Promise<T>)
    : (JSON.parse(text) as T);
