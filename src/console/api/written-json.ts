/**
 * JSON that somebody wrote, as its text: no digit and no order of its members passes through a value of
 * JavaScript. Of what is no JSON, its parts are not asked for: reading them may throw.
 */
export interface Written {
  readonly json: string;
}

type None<T> = unknown extends T ? null : Extract<T, null | undefined>;

/** An answer whose members of these names are as they were written. */
export type Keeping<T, Names extends string> = T extends readonly (infer Item)[]
  ? Keeping<Item, Names>[]
  : T extends object
    ? { [Key in keyof T]: Key extends Names ? Written | None<T[Key]> : Keeping<T[Key], Names> }
    : T;

/** The name of a member, which is all of it that is read, or any other part of JSON. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|[^\s{}[\],:"]+/g;

const isNumber = (word: string): boolean => /^[-\d]/.test(word);
const step = (word: string): number =>
  word === '{' || word === '[' ? 1 : word === '}' || word === ']' ? -1 : 0;

/**
 * JSON whose numbers are strings of the same characters, and whose members of these names, the outermost of
 * them, are `Written`; null stays null.
 */
export function keepWritten(json: string, names: readonly string[]): string {
  let kept = '';
  let done = 0;
  let depth = 0;
  let isNamed = false;
  let open: { readonly at: number; readonly depth: number } | undefined;
  const keep = (from: number, to: number, text: string): void => {
    kept += json.slice(done, from) + text;
    done = to;
  };
  for (const { 0: word, 1: name, index } of json.matchAll(token)) {
    if (name !== undefined) isNamed = names.includes(JSON.parse(name) as string);
    if (name !== undefined || word === ',') continue;
    if (!open && isNamed && word !== 'null') open = { at: index, depth };
    isNamed = false;
    depth += step(word);
    const end = index + word.length;
    if (open?.depth === depth) {
      keep(open.at, end, `{"json":${JSON.stringify(json.slice(open.at, end))}}`);
      open = undefined;
    } else if (!open && isNumber(word)) keep(index, end, `"${word}"`);
  }
  return kept + json.slice(done);
}

/** It in lines, for somebody to read and change: its numbers, names and their order are as they were. */
export function linesOf({ json }: Written): string {
  let lines = '';
  let depth = 0;
  let isFirst = true;
  let isValue = false;
  for (const { 0: word, 1: name } of json.matchAll(token)) {
    if (word === ',') {
      lines += ',';
      continue;
    }
    const by = step(word);
    if (by < 0) depth -= 1;
    const isEmpty = by < 0 && isFirst;
    if (!isValue && !isEmpty && lines !== '') lines += `\n${'  '.repeat(depth)}`;
    lines += name === undefined ? word : `${name}: `;
    isValue = name !== undefined;
    isFirst = by > 0;
    if (by > 0) depth += 1;
  }
  return lines;
}

/** The parts of an object or a list, each with its name where it has one. */
function partsOf({ json }: Written): (readonly [name: string | undefined, part: Written])[] {
  const parts: (readonly [string | undefined, Written])[] = [];
  let depth = 0;
  let at = 0;
  let last: string | undefined;
  for (const { 0: word, 1: name, index } of json.matchAll(token)) {
    const by = step(word);
    const isOuter = depth === 1;
    if (isOuter && (word === ',' || by < 0)) {
      const part = json.slice(at, index).trim();
      if (part !== '') parts.push([last, { json: part }]);
    }
    if (isOuter && name !== undefined) last = JSON.parse(name) as string;
    if (isOuter ? word === ',' || name !== undefined : depth === 0) at = index + word.length;
    depth += by;
  }
  return parts;
}

/** The members of an object by their names; of anything else none. */
export const membersOf = (written: Written): ReadonlyMap<string, Written> =>
  new Map(partsOf(written).flatMap(([name, part]) => (name === undefined ? [] : [[name, part]])));

/**
 * All that is neither an object nor a list, or is empty, by the names and places (from 1) that lead to it;
 * null is left out.
 */
export function leavesOf(written: Written, path = ''): ReadonlyMap<string, Written> {
  const parts = partsOf(written);
  if (parts.length === 0) return new Map(written.json === 'null' ? [] : [[path, written]]);
  return new Map(
    parts.flatMap(([name, part], index) => {
      const step = name ?? String(index + 1);
      return [...leavesOf(part, path === '' ? step : `${path} / ${step}`)];
    }),
  );
}

/** The text that it is, where it is one. */
export function textIn({ json }: Written): string | undefined {
  return json.startsWith('"') ? (JSON.parse(json) as string) : undefined;
}
