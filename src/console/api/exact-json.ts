/** A number in JSON that is changed and sent back: its characters, and no double in between. */
export interface ExactNumber {
  readonly '#': string;
}

export type ExactJson =
  | ExactNumber
  | string
  | boolean
  | null
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson };

export const isExactNumber = (value: ExactJson | undefined): value is ExactNumber =>
  typeof value === 'object' &&
  value !== null &&
  '#' in value &&
  typeof value['#'] === 'string' &&
  Object.keys(value).length === 1;

/** What may stand as a number in JSON. */
export const isNumberText = (text: string): boolean => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text);

const marked = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads JSON with its numbers as they are written. */
export const parseExact = (json: string): ExactJson =>
  JSON.parse(
    json.replace(marked, (token) => (token.startsWith('"') ? token : `{"#":"${token}"}`)),
  ) as ExactJson;

/** Writes them the same way: quotes within texts are escaped, so that no text looks like a number. */
export const writeExact = (value: unknown): string =>
  JSON.stringify(value).replace(/\{"#":"([^"]*)"\}/g, '$1');
