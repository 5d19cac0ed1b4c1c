import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { pointerPart } from '../../kernel/expression/json-schema-check.js';
import { isCalendarDate } from '../../kernel/time/date.js';
import { isUuid } from '../../kernel/id.js';
import type { Scope } from '../../kernel/scope.js';
import { isNumberObject } from '../../kernel/text/json.js';
import { problem, type Problem } from '../../kernel/problem.js';
import { limitFaults } from '../http/fault-limits.js';
import { faultMessage } from '../http/fault-message.js';
import { defineKeywords, type CheckContext } from './keywords.js';

const ajv = new Ajv2020({
  allErrors: true,
  discriminator: true,
  // Keywords are called with the context of a check as `this`.
  passContext: true,
  strict: false,
  useDefaults: true,
  verbose: true,
  // Making the code of a schema smaller takes longer than making it, in which nothing else is served.
  code: { optimize: false },
});
addFormats.default(ajv, ['date-time', 'uri']);
// The usual form alone: 'urn:uuid:...', which JSON Schema means too, is no id of the database.
ajv.addFormat('uuid', isUuid);
ajv.addFormat('calendar-date', isCalendarDate);
defineKeywords(ajv);
limitFaults(ajv);

const compiled = new WeakMap<TSchema, ValidateFunction>();

function validatorOf(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const validate = ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** Maximum faults in an answer: a body of 10,000 bad rows needs no longer one. */
const faultsMax = 10;

/**
 * Checks a value against its declaration and returns it with exact decimals, canonical picklist
 * names and currency codes in place; the value itself is changed. Throws a validation problem that
 * names every field at fault (first ten).
 */
export function validate<S extends TSchema>(schema: S, value: unknown): Static<S> {
  return validateWith({}, schema, value);
}

/**
 * Checks a value that has been JSON with floats, as it is in Temporal and in expressions: decimals that no
 * float can hold are texts there (see `jsonSafe`).
 */
export function reviveInput<S extends TSchema>(schema: S, value: unknown): Static<S> {
  return validateWith({ acceptsDecimalText: true }, schema, value);
}

/** How what the caller of an operation gives is checked: workflows of tenants have JSON with floats. */
export const checkFor = ({ depth }: Pick<Scope, 'depth'>): typeof validate =>
  depth === undefined ? validate : reviveInput;

/** Where a schema has forms of which one holds: which one, what is not said yet may decide. */
const inForms = /\/(anyOf|oneOf|if|then|else|not)\//;

/** Which values there are is data of an instance, and changes. */
const ofData: ReadonlySet<string> = new Set(['picklist', 'currency', 'country']);

/**
 * The errors with one for each mistake: of a value that has none of several forms, those of the form whose type
 * it has; where it has none of these, that it must be of one.
 */
function oneOfEach(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  return errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .reduce((left, whole) => {
      const { schemaPath, instancePath: place } = whole;
      const inForms = left.filter(
        (error) =>
          error.schemaPath.startsWith(`${schemaPath}/`) &&
          `${error.instancePath}/`.startsWith(`${place}/`),
      );
      const formOf = (error: ErrorObject): string =>
        error.schemaPath.slice(schemaPath.length + 1).split('/')[0] ?? '';
      const types = inForms.filter(
        (error) => error.keyword === 'type' && error.instancePath === place,
      );
      const others = new Set(types.map(formOf));
      const told = inForms.filter((error) => !others.has(formOf(error)));
      const kinds = types.map((error) => faultMessage(error).replace(/^must be /, ''));
      const one = told.length > 0 ? [] : [{ ...whole, message: `must be ${kinds.join(' or ')}` }];
      return left.flatMap((error) => {
        if (error === whole) return one;
        return inForms.includes(error) && !told.includes(error) ? [] : [error];
      });
    }, errors);
}

/**
 * What is wrong with a value, at its place, whatever the instance. `isOpen` says of a part of it whether
 * something in it is not said yet: such a part has no faults but names that are not known, or are missing.
 */
export function faultsBeside(
  schema: TSchema,
  value: unknown,
  isOpen: (part: unknown) => boolean,
): { readonly pointer: string; readonly message: string }[] {
  const check = validatorOf(schema);
  if (check.call({ acceptsDecimalText: true }, structuredClone(value))) return [];
  const errors = check.errors ?? [];
  const areFormsOpen = isOpen(value) || errors.some(({ keyword }) => ofData.has(keyword));
  const isSure = (error: ErrorObject): boolean => {
    const { keyword, schemaPath, data } = error;
    if (ofData.has(keyword) || isToldByAnother(error, errors)) return false;
    if (areFormsOpen && (keyword === 'anyOf' || inForms.test(schemaPath))) return false;
    return keyword === 'required' || keyword === 'additionalProperties' || !isOpen(data);
  };
  return oneOfEach(errors)
    .filter(isSure)
    .slice(0, faultsMax)
    .map((error) => {
      const { missingProperty, additionalProperty } = error.params as Readonly<
        Record<string, string | undefined>
      >;
      const name = missingProperty ?? additionalProperty;
      const { text, shortName, known } = faultOf(error);
      const named = name === undefined ? '' : `'${shortName ?? name}' `;
      const others = known ? `. Known are: ${known.join(', ')}.` : '';
      return {
        pointer: error.instancePath + (name === undefined ? '' : pointerPart(name)),
        message: `${named}${text}${others}`,
      };
    });
}

function validateWith<S extends TSchema>(
  context: CheckContext,
  schema: S,
  value: unknown,
): Static<S> {
  const check = validatorOf(schema);
  // Keywords write into the parent of a value, so the root needs one too. A number of many digits
  // is an object here, which `type: object` would let through.
  const holder = { value: isNumberObject(value) ? Number(value) : value };
  if (!check.call(context, holder.value)) {
    throw validationProblem(check.errors ?? []);
  }
  return holder.value as Static<S>;
}

const pointerParts = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** `/rateCards/0/rows/1` becomes `rateCards[0].rows[1]`. */
function fieldName(pointer: string, child?: string): string {
  const parts = pointerParts(pointer);
  if (child !== undefined) parts.push(child);
  return parts.reduce(
    (name, part) =>
      /^\d+$/.test(part) ? `${name}[${part}]` : name === '' ? part : `${name}.${part}`,
    '',
  );
}

interface Fault {
  readonly field: string;
  /** What is wrong with the field: follows its name. */
  readonly text: string;
  /** The field in the sentence, where its name may be endless. */
  readonly shortName?: string;
  /** Of the body itself, which has no name. */
  readonly isOfBody?: boolean;
  readonly value?: unknown;
  /** Of a property that is not known: those that are. */
  readonly known?: readonly string[];
}

/**
 * A failed variant also fails its `oneOf`, an empty text is blank as well, and what is no object is no
 * free object either: the other error says more.
 */
function isToldByAnother(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (error.keyword === 'oneOf' || error.keyword === 'if') return true;
  const isSaidBy = (keyword: string): boolean =>
    errors.some((other) => other.keyword === keyword && other.instancePath === error.instancePath);
  if (error.keyword === 'type') return isSaidBy('freeObject');
  return error.keyword === 'pattern' && error.data === '' && isSaidBy('minLength');
}

function validationProblem(errors: readonly ErrorObject[]): Problem {
  const telling = errors.filter((error) => !isToldByAnother(error, errors));
  const faults = telling.slice(0, faultsMax).map(faultOf);
  const [first = { field: '', value: undefined }] = faults;
  return problem.validation(
    (nameOf) => faults.map((fault) => sentenceOf(fault, nameOf)).join('; '),
    {
      field: first.field,
      ...(isShort(first.value) ? { value: first.value } : {}),
      errors: faults.map((fault) => ({
        field: fault.field,
        message: sentenceOf(fault),
        ...(fault.known ? { known: fault.known } : {}),
      })),
    },
  );
}

const sentenceOf = (
  { field, shortName = field, isOfBody = false, text }: Fault,
  nameOf = (name: string): string => name,
): string => (isOfBody ? `The body ${text}` : `'${nameOf(shortName)}' ${text}`);

const isShort = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean'
    ? true
    : typeof value === 'string' && value.length <= 200;

/** Names of a record type's fields can be many. */
const knownMax = 200;

/** Of these the caller chose one of several values: which one, helps to find it in a large body. */
const choosingKeywords: ReadonlySet<string> = new Set([
  'picklist',
  'currency',
  'country',
  'format',
  'dateOrInstant',
  'wholeNumber',
  'flag',
]);

/** The value that was given, before what is wrong with it, where it is short and no object. */
function valueBefore(value: unknown): string {
  const isText = typeof value === 'string' && value !== '' && isShort(value);
  if (!isText && typeof value !== 'number' && typeof value !== 'boolean') return '';
  return `'${String(value).replaceAll('\0', '?')}' `;
}

function faultOf(error: ErrorObject): Fault {
  const field = fieldName(error.instancePath);
  const { data, params } = error;
  switch (error.keyword) {
    case 'required':
      return {
        field: fieldName(error.instancePath, String(params['missingProperty'])),
        text: 'is required',
      };
    case 'additionalProperties': {
      const extra = fieldName(error.instancePath, String(params['additionalProperty']));
      const { properties = {} } = error.parentSchema as { readonly properties?: object };
      const known = Object.keys(properties).slice(0, knownMax);
      const shortName = extra.slice(0, 200);
      return { field: extra, shortName, text: 'is not a known property', known };
    }
    case 'discriminator': {
      const expected = `must be one of: ${variantNames(error).join(', ')}`;
      return {
        field: fieldName(error.instancePath, String(params['tag'])),
        text: `${valueBefore(params['tagValue'])}${expected}`,
      };
    }
    case 'const':
    case 'enum': {
      const allowed = (params['allowedValues'] ?? [params['allowedValue']]) as unknown[];
      const expected = `must be ${allowed.length > 1 ? 'one of: ' : ''}${allowed.join(', ')}`;
      return { field, value: data, text: `${valueBefore(data)}${expected}` };
    }
    default: {
      const isChosen = field !== '' && choosingKeywords.has(error.keyword);
      const text = `${isChosen ? valueBefore(data) : ''}${faultMessage(error)}`;
      return { field, value: data, isOfBody: field === '', text };
    }
  }
}

function variantNames(error: ErrorObject): string[] {
  const schema = error.parentSchema as {
    discriminator: { propertyName: string };
    oneOf: { properties: Record<string, { const?: string }> }[];
  };
  return schema.oneOf.map(
    (variant) => variant.properties[schema.discriminator.propertyName]?.const ?? '',
  );
}
