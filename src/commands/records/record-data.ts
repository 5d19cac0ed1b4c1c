import { canonicalJson } from '../../kernel/text/json.js';
import { isExactNumber } from '../../kernel/expression/json-schema-check.js';
import { Decimal, digitsMax, parseDecimal } from '../../kernel/numbers/money.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { instantOf } from '../../kernel/time/record-date.js';
import { keyLengthMax } from '../../models/records/record-key.js';
import type { DeclaredField } from '../../models/records/record-type.js';

export type RecordData = Readonly<Record<string, unknown>>;

/** Maximum length of a value that an error message repeats. */
const shownMax = 200;

/** 400 that names the field and, when it is short, the value. */
export function fieldProblem(message: string, field: string, value: unknown = null): Problem {
  const isShown = canonicalJson(value).length <= shownMax;
  return problem.validation(message, { field, ...(isShown ? { value } : {}) });
}

/** Whether it is a plain JSON object, and not an object of ours that represents a number. */
const isPlainObject = (value: unknown): value is RecordData =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const joined = (path: string, name: string, isItem: boolean): string =>
  isItem ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;

/** The path of the first number with more than 38 digits, which cannot be stored exactly. */
export function findUnreadable(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return undefined;
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) return path;
  for (const [name, child] of Object.entries(value)) {
    if (typeof child !== 'object' || child === null) continue;
    const found = findUnreadable(child, joined(path, name, isList));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * What a workflow gives a record: fields that are numbers have one in the place of the text that expressions
 * have for it (spec/beyond.md R417).
 */
export function withNumbers(
  { depth }: Pick<Scope, 'depth'>,
  fields: readonly DeclaredField[] | null,
  data: unknown,
): unknown {
  if (depth === undefined || fields === null || !isPlainObject(data)) return data;
  const numbers = fields.flatMap(({ name, type }): [string, Decimal][] => {
    const value = type === 'number' && Object.hasOwn(data, name) ? data[name] : undefined;
    const number = isExactNumber(value) ? parseDecimal(value) : null;
    return number === null ? [] : [[name, number]];
  });
  return { ...data, ...Object.fromEntries(numbers) };
}

const fits: Readonly<Record<DeclaredField['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' || value instanceof Decimal,
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && instantOf(value) !== null,
  object: isPlainObject,
  array: Array.isArray,
};

const wanted: Readonly<Record<DeclaredField['type'], string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date (YYYY-MM-DD) or an ISO 8601 instant',
  object: 'an object',
  array: 'an array',
};

/** Allowed values that a refusal names, and the characters of each. */
const namedMax = 20;
const namedLengthMax = 50;

/** The allowed values of a field, as a set to look up in and as text for the error message. */
interface AllowedValues {
  readonly known: ReadonlySet<string>;
  readonly wording: string;
}

/** Computed once for each list of values: a bulk request compares thousands of records with it. */
const allowedOf = new WeakMap<readonly unknown[], AllowedValues>();

function nameValues(texts: readonly string[]): string {
  const named = texts
    .slice(0, namedMax)
    .map((text) => (text.length > namedLengthMax ? `${text.slice(0, namedLengthMax)}…` : text));
  const rest = texts.length > namedMax ? ` and ${texts.length - namedMax} more` : '';
  return named.join(', ') + rest;
}

function allowedValues(values: readonly unknown[]): AllowedValues {
  const made = allowedOf.get(values);
  if (made) return made;
  const texts = values.map(canonicalJson);
  const allowed = { known: new Set(texts), wording: nameValues(texts) };
  allowedOf.set(values, allowed);
  return allowed;
}

/** What is wrong with a value that is not null; undefined: nothing. */
export function valueFault(field: DeclaredField, value: unknown): string | undefined {
  if (!fits[field.type](value)) return `must be ${wanted[field.type]}`;
  if (field.values) {
    const { known, wording } = allowedValues(field.values);
    if (!known.has(canonicalJson(value))) return `must be one of: ${wording}`;
  }
  const isLong = typeof value === 'string' && value.length >= keyLengthMax;
  return field.unique === true && isLong
    ? `must have at most ${keyLengthMax - 1} characters, because it is unique`
    : undefined;
}

function fieldFault(field: DeclaredField, value: unknown): Problem | undefined {
  const { name, required } = field;
  if (value === undefined || value === null) {
    return required === true ? fieldProblem(`'${name}' is required`, name) : undefined;
  }
  const fault = valueFault(field, value);
  return fault === undefined ? undefined : fieldProblem(`'${name}' ${fault}`, name, value);
}

const namesOfFields = new WeakMap<readonly DeclaredField[], ReadonlySet<string>>();

/** The names of the fields, gathered once for all records of a bulk. */
function namesOf(fields: readonly DeclaredField[]): ReadonlySet<string> {
  const made = namesOfFields.get(fields) ?? new Set(fields.map(({ name }) => name));
  namesOfFields.set(fields, made);
  return made;
}

/**
 * The error in the data of a record; undefined: it is valid. With `isChange` only the given fields
 * are checked. Without declared fields any object is valid.
 */
export function dataFault(
  fields: readonly DeclaredField[] | null,
  data: unknown,
  { isChange }: { readonly isChange: boolean },
): Problem | undefined {
  if (!isPlainObject(data)) return fieldProblem(`'data' must be an object`, 'data', data);
  const unreadable = findUnreadable(data, '');
  if (unreadable !== undefined) {
    const message = `'${unreadable}' must not have a number of more than ${digitsMax} digits`;
    return problem.validation(message, { field: unreadable });
  }
  if (fields === null) return undefined;
  const known = namesOf(fields);
  for (const [name, value] of Object.entries(data)) {
    if (!known.has(name)) {
      const shown = name.slice(0, shownMax);
      return fieldProblem(`'${shown}' is not a field of the record type`, shown, value);
    }
  }
  for (const field of fields) {
    const isGiven = Object.hasOwn(data, field.name);
    const fault =
      isGiven || !isChange ? fieldFault(field, isGiven ? data[field.name] : null) : undefined;
    if (fault) return fault;
  }
  return undefined;
}

/** The data after a change: null removes a field, absent fields are kept. */
export function changedData(stored: RecordData, given: RecordData): RecordData {
  const merged = Object.entries({ ...stored, ...given });
  return Object.fromEntries(
    merged.filter(([name, value]) => !(Object.hasOwn(given, name) && value === null)),
  );
}

/** Characters of the JSON of a record: a body that creates or changes one may have as many bytes. */
export const recordLengthMax = 1024 * 1024;

export const tooLarge = () => fieldProblem(`'data' is larger than 1 MiB of JSON`, 'data');

/** 409 for a unique value that another record has. */
export function takenValue(field: string | undefined, data: RecordData): Problem {
  if (field === undefined) return problem.conflict('A unique value is taken by another record.');
  return problem.conflict(`Another record has this value in '${field}', which is unique`, {
    field,
    value: data[field],
  });
}
