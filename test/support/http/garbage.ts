import { changed, closedObjectsIn, placesIn, typesOf, type Place, type Schema } from './places.js';

/** A body that must be refused, and the field that the answer must name, if one is at fault. */
export interface BadBody {
  readonly what: string;
  readonly text: string;
  readonly field?: string;
}

/** Stands where a text cannot be written by `JSON.stringify`; see `withToken`. */
const mark = '#token#';
/** The body with a token of ours at a place, such as `1e400`, which no number of JavaScript is. */
const withToken = (body: object, path: readonly string[], token: string): string =>
  JSON.stringify(changed(body, path, mark)).replace(JSON.stringify(mark), () => token);

const tokens: Readonly<Record<string, string>> = {
  null: 'null',
  boolean: 'true',
  number: '7',
  string: '"text"',
  array: '[]',
  object: '{}',
};

/** What is no JSON at all. */
export const brokenJson: readonly BadBody[] = [
  ['nothing', ''],
  ['blanks', ' \n\t '],
  ['a brace', '{'],
  ['a word', 'nonsense'],
  ['single quotes', "{'name':'x'}"],
  ['a trailing comma', '{"name":"x",}'],
  ['a comment', '{/* */}'],
  ['two documents', '{}{}'],
  ['NaN', '{"name":NaN}'],
  ['Infinity', '{"name":-Infinity}'],
  ['a hexadecimal number', '{"name":0x10}'],
  ['a leading zero', '{"name":007}'],
  ['a raw line break in a text', '{"name":"a\nb"}'],
  ['a half escape', '{"name":"\\u00"}'],
  ['100,000 open brackets', '['.repeat(100_000)],
  ['100,000 nested arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['100,000 nested objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ['65 nested objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65)],
].map(([what = '', text = '']) => ({ what, text }));

/** A body of the wrong type altogether. */
export function wrongTopLevel(schema: Schema): BadBody[] {
  const allowed = typesOf(schema);
  return Object.entries(tokens)
    .filter(([type]) => !allowed.includes(type))
    .map(([type, text]) => ({ what: `${type} at the top`, text }));
}

function wrongTypes(body: object, { path, name, schema }: Place): BadBody[] {
  const allowed = typesOf(schema);
  if (allowed.length === 0) return [];
  return Object.entries(tokens)
    .filter(([type]) => !allowed.includes(type))
    .map(([type, token]) => ({
      what: `${path.join('.')} as ${type}`,
      text: withToken(body, path, token),
      field: name,
    }));
}

const unstorableTexts = { 'a NUL': '"a\\u0000b"', 'half a surrogate pair': '"a\\ud800b"' };
const badNumbers = {
  '40 digits': '1234567890123456789012345678901234567890',
  '40 decimal places': '0.1234567890123456789012345678901234567891',
  '1e400': '1e400',
  '-1e400': '-1e400',
};
const badDates = ['2026-02-30', '2026-13-01', '2026-1-1', '20260101', '0000-01-01', 'today', ''];
const badUuids = ['abc', '', '01939c6e-7a00-7000-8000-00000000000', '{01939c6e}'];

function wrongValues(body: object, { path, name, schema }: Place): BadBody[] {
  const at = path.join('.');
  const texts = (what: string, values: readonly string[]) =>
    values.map((value) => ({
      what: `${at} with ${what} '${value.slice(0, 40)}'`,
      text: withToken(body, path, JSON.stringify(value)),
      field: name,
    }));
  const raw = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([what, token]) => ({
      what: `${at} with ${what}`,
      text: withToken(body, path, token),
      field: name,
    }));
  const { format, maxLength, minLength, maxItems, minItems } = schema;
  const types = typesOf(schema);
  const isText = types.includes('string');
  const isPlain = isText && !['enum', 'const', 'pattern'].some((keyword) => keyword in schema);
  return [
    ...(isText && (isPlain || schema['pattern'] === '\\S') ? raw(unstorableTexts) : []),
    ...(types.includes('number') ? raw(badNumbers) : []),
    ...(schema['type'] === 'integer' ? raw({ 'a fraction': '1.5' }) : []),
    ...(format === 'calendar-date' ? texts('the date', badDates) : []),
    ...(format === 'uuid' ? texts('the id', badUuids) : []),
    ...(isText && 'picklist' in schema ? texts('the value', ['', 'No such value']) : []),
    ...(isText && ('currency' in schema || 'country' in schema)
      ? texts('the name', ['', 'Atlantis', 'x'.repeat(5_000)])
      : []),
    ...(isText && typeof maxLength === 'number'
      ? texts('a text too long', ['x'.repeat(maxLength + 1)])
      : []),
    ...(isText && typeof minLength === 'number' && minLength > 0 ? texts('a blank', ['']) : []),
    ...(isText && schema['pattern'] === '\\S' ? texts('blanks', ['  ']) : []),
    ...(typeof minItems === 'number' && minItems > 0 ? raw({ 'no items': '[]' }) : []),
    ...(typeof maxItems === 'number'
      ? raw({ 'too many items': `[${'{},'.repeat(maxItems)}{}]` })
      : []),
  ];
}

/** An object with a property that nobody declared, also under names that are special in JavaScript. */
function unknownProperties(body: object, path: readonly string[]): BadBody[] {
  return ['colour', '__proto__', 'constructor', 'toString', 'x'.repeat(10_000), ''].flatMap(
    (name) => {
      // 1E5 makes the reader keep exact numbers, which is another parser.
      const values = { 'a number': '1', 'an exact number': '1E5', 'an object': '{"isAdmin":true}' };
      return Object.entries(values).map(([what, token]) => ({
        what: `${path.join('.')} with ${what} as '${name.slice(0, 40)}'`,
        // The property is written by hand: JSON.stringify could not write __proto__.
        text: withMember(body, path, `${JSON.stringify(name)}:${token}`),
        field: name.slice(0, 100),
      }));
    },
  );
}

function withMember(body: object, path: readonly string[], member: string): string {
  const owner = path.reduce<unknown>(
    (value, step) => (value as Record<string, unknown>)[step],
    body,
  ) as object;
  const key = '#member#';
  const marked =
    path.length === 0 ? { ...owner, [key]: 1 } : changed(body, path, { ...owner, [key]: 1 });
  return JSON.stringify(marked).replace(`${JSON.stringify(key)}:1`, () => member);
}

/** Bodies of an operation with one fault each; the rest of each is right. */
export function badBodies(schema: Schema, body: object): BadBody[] {
  const places = placesIn(schema, body);
  return [
    ...wrongTopLevel(schema),
    ...places.flatMap((place) => wrongTypes(body, place)),
    ...places.flatMap((place) => wrongValues(body, place)),
    ...closedObjectsIn(schema, body).flatMap((path) => unknownProperties(body, path)),
  ];
}
