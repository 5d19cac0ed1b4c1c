import { inPortions } from '../../kernel/portions.js';
import { canonicalJson } from '../../kernel/text/json.js';
import { isLongerThan } from '../../kernel/text/json-length.js';
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
  const isShown = !isLongerThan(value, shownMax);
  return problem.validation(message, { field, ...(isShown ? { value } : {}) });
}

/** Whether it is a plain JSON object, and not an object of ours that represents a number. */
const isPlainObject = (value: unknown): value is RecordData =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** A list or an object that is gone through, and how many of its values were looked at. */
interface Entered {
  readonly members: Readonly<Record<string, unknown>>;
  /** Null of a list, which may have ever so many. */
  readonly names: readonly string[] | null;
  readonly count: number;
  at: number;
}

/** Undefined: a number that cannot be read is an object of another kind. */
function enter(value: object): Entered | undefined {
  if (Array.isArray(value)) {
    return {
      members: value as unknown as Entered['members'],
      names: null,
      count: value.length,
      at: 0,
    };
  }
  if (!isPlainObject(value)) return undefined;
  const names = Object.keys(value);
  return { members: value, names, count: names.length, at: 0 };
}

/** The place of the value that each of these was at last. */
const placeIn = (entered: readonly Entered[]): string =>
  entered.reduce((path, { names, at }) => {
    if (names === null) return `${path}[${at - 1}]`;
    const name = names[at - 1] ?? '';
    return path === '' ? name : `${path}.${name}`;
  }, '');

/** Values that are looked at before others have their turn. */
const valuesAtOnce = 2_000;

/** The place of the first number with more than 38 digits, which cannot be stored exactly; to be run in portions. */
function* findingUnreadable(data: RecordData): Generator<undefined, string | undefined, undefined> {
  const first = enter(data);
  const entered = first ? [first] : [];
  for (let looked = 1; ; looked += 1) {
    if (looked % valuesAtOnce === 0) yield;
    const within = entered.at(-1);
    if (!within) return undefined;
    if (within.at === within.count) {
      entered.pop();
      continue;
    }
    const value = within.members[within.names?.[within.at] ?? within.at];
    within.at += 1;
    if (typeof value !== 'object' || value === null || value instanceof Decimal) continue;
    const next = enter(value);
    if (!next) return placeIn(entered);
    entered.push(next);
  }
}

/** Whether a value of its own is a number with more than 38 digits. */
export const isUnreadable = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Decimal) &&
  enter(value) === undefined;

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
export async function dataFault(
  fields: readonly DeclaredField[] | null,
  data: unknown,
  { isChange }: { readonly isChange: boolean },
): Promise<Problem | undefined> {
  if (!isPlainObject(data)) return fieldProblem(`'data' must be an object`, 'data', data);
  const unreadable = await inPortions(findingUnreadable(data));
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
