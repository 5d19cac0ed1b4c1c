/** Where something is in a text, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export const placeOf = (text: string, at: number): Place => {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
};

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

const stepOf = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

interface Level {
  readonly pointer: string;
  readonly isList: boolean;
  index: number;
  key: string | undefined;
}

/**
 * Where in a JSON text each JSON pointer is: of a member its name, of an item its value. Text that is no
 * JSON gives what could be read before.
 */
export function placesOf(text: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>([['', { line: 1, column: 1 }]]);
  const levels: Level[] = [];
  for (const { 0: word, index: at } of text.matchAll(token)) {
    const level = levels.at(-1);
    if (word === '}' || word === ']') levels.pop();
    else if (word === ',') {
      if (level) {
        level.index += 1;
        level.key = undefined;
      }
    } else if (word === ':') continue;
    else if (level && !level.isList && level.key === undefined) {
      level.key = memberName(word);
      places.set(`${level.pointer}/${stepOf(level.key)}`, placeOf(text, at));
    } else {
      const step = level?.isList ? String(level.index) : stepOf(level?.key ?? '');
      const pointer = level ? `${level.pointer}/${step}` : '';
      if (level?.isList) places.set(pointer, placeOf(text, at));
      if (word === '{' || word === '[') {
        levels.push({ pointer, isList: word === '[', index: 0, key: undefined });
      }
    }
  }
  return places;
}

function memberName(word: string): string {
  try {
    return String(JSON.parse(word));
  } catch {
    return word;
  }
}

/** The place of a pointer, or of the nearest thing around it that the text has. */
export function placeOfPointer(places: ReadonlyMap<string, Place>, pointer: string): Place {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = places.get(at);
    if (place) return place;
  }
  return { line: 1, column: 1 };
}
