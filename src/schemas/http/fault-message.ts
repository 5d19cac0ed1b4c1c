import type { ErrorObject } from 'ajv';

/** What a format is, for people, with an example of it. */
const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID, such as 0190a1b2-0c3d-7e4f-8a5b-6c7d8e9f0a1b',
  'calendar-date': 'a calendar date, such as 2026-01-31',
  'date-time': 'an ISO 8601 instant with its zone, such as 2026-01-31T12:00:00Z',
  uri: 'an address, such as https://example.com/path',
};

/** What a JSON type is, for people. */
const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object, such as {"name": "value"}',
  array: 'a list, such as ["value"]',
  null: 'null',
};

const counted = (count: unknown, one: string, many: string): string =>
  `${String(count)} ${count === 1 ? one : many}`;

/** The types that a declaration allows; null stands last and only where something else does. */
function typeMessage(error: ErrorObject): string {
  const allowed: unknown = error.params['type'];
  const names = (Array.isArray(allowed) ? allowed : String(allowed).split(',')) as string[];
  return `must be ${names.map((name) => types[name] ?? name).join(' or ')}`;
}

/** A pattern is described by its declaration: `expected` says what a person would write. */
function patternMessage({ params, parentSchema }: ErrorObject): string {
  if (params['pattern'] === '\\S') return 'must not be blank';
  const { expected } = parentSchema as { expected?: string };
  return expected === undefined ? 'is not of the form that it must have' : `must be ${expected}`;
}

/**
 * What is wrong with a value, in words that need no knowledge of JSON Schema: it completes a sentence
 * that begins with the name of the field.
 */
export function faultMessage(error: ErrorObject): string {
  const { keyword, params } = error;
  const limit: unknown = params['limit'];
  switch (keyword) {
    case 'type':
      return typeMessage(error);
    case 'format':
      return `must be ${formats[String(params['format'])] ?? `of the form ${String(params['format'])}`}`;
    case 'pattern':
      return patternMessage(error);
    case 'minLength':
      return limit === 1
        ? 'must not be empty'
        : `must have at least ${counted(limit, 'character', 'characters')}`;
    case 'maxLength':
      return `must have at most ${counted(limit, 'character', 'characters')}`;
    case 'minItems':
      return `must have at least ${counted(limit, 'item', 'items')}`;
    case 'maxItems':
      return `must have at most ${counted(limit, 'item', 'items')}`;
    case 'minProperties':
      return `must have at least ${counted(limit, 'property', 'properties')}`;
    case 'maxProperties':
      return `must have at most ${counted(limit, 'property', 'properties')}`;
    case 'propertyNames':
      return `has a property of a name that is not allowed: '${String(params['propertyName']).slice(0, 200)}'`;
    case 'uniqueItems':
      return 'must not hold an item twice';
    case 'multipleOf':
      return `must be a multiple of ${String(params['multipleOf'])}`;
    default:
      return error.message ?? 'is not valid';
  }
}
