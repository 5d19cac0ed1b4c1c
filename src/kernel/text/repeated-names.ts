import { endOfString } from './json.js';

/** An object or a list that has been begun, and where in it one is. */
type Open =
  | { readonly names: Set<string>; name: string; isBeforeName: boolean }
  | { names?: never; at: number };

/** Where a text of JSON gives a member of an object twice, as the names and places that lead there. */
export interface RepeatedName {
  readonly path: readonly (string | number)[];
  readonly name: string;
}

/**
 * Members that a text of JSON gives twice, `most` at most. Whoever parses it sees the last one alone. The
 * text is valid; others may have their turn at each `yield`.
 */
export function* repeatedNames(
  text: string,
  most: number,
): Generator<undefined, RepeatedName[], undefined> {
  const found: RepeatedName[] = [];
  const open: Open[] = [];
  for (let index = 0; index < text.length && found.length < most; index += 1) {
    const inner = open.at(-1);
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index);
        if (inner?.names && inner.isBeforeName) {
          inner.name = JSON.parse(text.slice(index, end + 1)) as string;
          if (inner.names.has(inner.name)) {
            const path = open.map((each) => (each.names ? each.name : each.at));
            found.push({ path, name: inner.name });
          }
          inner.names.add(inner.name);
          inner.isBeforeName = false;
          yield;
        }
        index = end;
        break;
      }
      case '{':
        open.push({ names: new Set(), name: '', isBeforeName: true });
        break;
      case '[':
        open.push({ at: 0 });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (inner?.names) inner.isBeforeName = true;
        else if (inner) inner.at += 1;
    }
  }
  return found;
}
