/**
 * JSON that somebody wrote, as its text: no digit and no order of its members passes through a value of
 * JavaScript.
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

/** The members of an object by their names; of anything else none. */
export function membersOf({ json }: Written): ReadonlyMap<string, Written> {
  const members = new Map<string, Written>();
  let depth = 0;
  let at = 0;
  let last: string | undefined;
  if (!json.trimStart().startsWith('{')) return members;
  for (const { 0: word, 1: name, index } of json.matchAll(token)) {
    const isEnd = depth === 1 && (word === ',' || word === '}');
    if (isEnd && last !== undefined) members.set(last, { json: json.slice(at, index).trim() });
    if (name !== undefined && depth === 1) {
      last = JSON.parse(name) as string;
      at = index + word.length;
    }
    depth += step(word);
  }
  return members;
}

/** The text that it is, where it is one. */
export function textIn({ json }: Written): string | undefined {
  return json.startsWith('"') ? (JSON.parse(json) as string) : undefined;
}
