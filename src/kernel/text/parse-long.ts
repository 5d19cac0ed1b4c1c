import { parseStoredInPortions } from './json-portions.js';

/** Longer texts are parsed in portions. */
const parsedAtOnce = 256 * 1024;

/** Parses JSON that we have written; a long text in portions, so that the event loop is not blocked. */
export async function parseLong<T>(text: string): Promise<T> {
  if (text.length > parsedAtOnce) {
    return (await parseStoredInPortions(text)) as T;
  }
  return JSON.parse(text) as T;
}
