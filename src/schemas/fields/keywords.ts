import type { SchemaValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import type { DecimalRule } from '../../kernel/numbers/decimal-value.js';
import { isUuid } from '../../kernel/id.js';
import { Decimal, digitsMax } from '../../kernel/numbers/money.js';
import type { PicklistReferenceRule } from '../../kernel/picklist-field.js';
import { referenceData } from '../../kernel/reference-data.js';
import { isNumberObject } from '../../kernel/text/json.js';
import { readDateOrInstant } from './date-or-instant.js';

/** What a keyword makes of a value: the value to put in its place, or why it is not one. */
type Reading = { readonly value: unknown } | { readonly fault: string };

/** A number without an exponent, which is all that a decimal is written as. */
const decimalForm = /^-?\d{1,40}(\.\d{1,40})?$/;

/** What a check is called with: see `reviveInput` of the validator. */
export interface CheckContext {
  readonly acceptsDecimalText?: boolean;
}

/**
 * A keyword that checks a value and puts the canonical one in its place. Null passes where the
 * schema says `orNull`, or `nullable` beside a type.
 */
function readingKeyword(
  name: string,
  read: (rule: unknown, data: unknown, context: CheckContext | undefined) => Reading,
) {
  const check: SchemaValidateFunction = function (
    this: CheckContext | undefined,
    rule: unknown,
    data: unknown,
    parentSchema?: Record<string, unknown>,
    context?: DataValidationCxt,
  ) {
    const mayBeNull = parentSchema?.['orNull'] === true || parentSchema?.['nullable'] === true;
    if (data === null && mayBeNull) return true;
    const reading = read(rule, data, this);
    if ('fault' in reading) {
      check.errors = [{ keyword: name, message: reading.fault, params: {} }];
      return false;
    }
    if (context?.parentData) context.parentData[context.parentDataProperty] = reading.value;
    return true;
  };
  return { keyword: name, modifying: true, errors: true, validate: check } as const;
}

/** Integer digits, and digits after the point, that a decimal field accepts. */
const integerDigitsMax = 20;
const scaleMax = 18;
/** Made once: the power took half of the time of checking a card of 5,000 rows. */
const tooLarge = Decimal.pow(10, integerDigitsMax);
const tooManyDigits = {
  fault: `must have at most ${integerDigitsMax} digits before and ${scaleMax} after the point`,
};

function readDecimalValue(
  rule: unknown,
  data: unknown,
  context: CheckContext | undefined,
): Reading {
  const isText =
    typeof data === 'string' && context?.acceptsDecimalText === true && decimalForm.test(data);
  if (typeof data !== 'number' && !(data instanceof Decimal) && !isText) {
    return isNumberObject(data) ? tooManyDigits : { fault: 'must be a number' };
  }
  const value = new Decimal(data);
  if (value.decimalPlaces() > scaleMax || value.abs().gte(tooLarge)) {
    return tooManyDigits;
  }
  const { minimum, exclusiveMinimum } = rule as DecimalRule;
  if (minimum !== undefined && value.lt(minimum)) return { fault: `must be >= ${minimum}` };
  if (exclusiveMinimum !== undefined && value.lte(exclusiveMinimum)) {
    return { fault: `must be > ${exclusiveMinimum}` };
  }
  return { value };
}

function readPicklistValue(rule: unknown, data: unknown): Reading {
  const given = rule as string | PicklistReferenceRule;
  const acceptsId = typeof given === 'object';
  const picklist = acceptsId ? given.name : given;
  const find = (text: string) =>
    referenceData.picklistValue(picklist, text) ??
    (acceptsId ? referenceData.picklistValueById(picklist, text) : undefined);
  const value = typeof data === 'string' ? find(data) : undefined;
  if (value) return { value: value.name };
  const allowed = referenceData.picklistValueNames(picklist).join(', ');
  return { fault: `must be one of: ${allowed}${acceptsId ? '; or the id of one' : ''}` };
}

function readCurrency(rule: unknown, data: unknown): Reading {
  const acceptsId = typeof rule === 'object';
  const find = (text: string) =>
    referenceData.currency(text) ?? (acceptsId ? referenceData.currencyById(text) : undefined);
  const currency = typeof data === 'string' ? find(data) : undefined;
  const kinds = acceptsId ? 'id, code or name' : 'code or name';
  return currency
    ? { value: currency.code }
    : {
        fault:
          typeof data === 'string' && data !== ''
            ? `names no currency; see /api/v1/external/currencies for its ${kinds}`
            : `must be a currency ${kinds}; see /api/v1/external/currencies`,
      };
}

function readCountry(_rule: unknown, data: unknown): Reading {
  const country = typeof data === 'string' ? referenceData.country(data) : undefined;
  return country
    ? { value: country.name }
    : { fault: 'must be a country name, alpha-2 or alpha-3 code; see /api/v1/external/countries' };
}

function readWholeNumber(rule: unknown, data: unknown): Reading {
  const { minimum, cap } = rule as { minimum: number; cap?: number };
  const text = typeof data === 'number' ? String(data) : data;
  if (typeof text !== 'string' || !/^\d{1,12}$/.test(text) || Number(text) < minimum) {
    return { fault: `must be a whole number >= ${minimum}` };
  }
  return { value: cap === undefined ? Number(text) : Math.min(Number(text), cap) };
}

function checkDateOrInstant(_rule: unknown, data: unknown): Reading {
  return typeof data === 'string' && readDateOrInstant(data) !== undefined
    ? { value: data }
    : { fault: 'must be a date or an ISO 8601 instant' };
}

function readFlag(_rule: unknown, data: unknown): Reading {
  if (typeof data === 'boolean') return { value: data };
  if (data === 'true' || data === 'false') return { value: data === 'true' };
  return { fault: 'must be true or false' };
}

/** Whether it is an object or array as JSON makes it, and not one of ours that stands for a number. */
const isPlain = (value: object): boolean =>
  Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;

/** Whether a value holds a number that neither a float nor a `Decimal` could keep. */
function hasUnreadableNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return false;
  return !isPlain(value) || Object.values(value).some(hasUnreadableNumber);
}

function readFreeObject(rule: unknown, data: unknown): Reading {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !isPlain(data)) {
    return { fault: 'must be an object, such as {"name": "value"}' };
  }
  return rule !== 'text' && hasUnreadableNumber(data)
    ? { fault: `must not hold a number of more than ${digitsMax} digits` }
    : { value: data };
}

/** An id in the one form that the database answers with; `format` says whether it is one at all. */
const readCanonicalUuid = (_rule: unknown, data: unknown): Reading => ({
  value: typeof data === 'string' && isUuid(data) ? data.toLowerCase() : data,
});

/** Defines what TypeBox has no word for: see `DecimalValue`, `Picklist` and `CurrencyCode`. */
export function defineKeywords(ajv: Ajv2020): void {
  ajv.addKeyword(readingKeyword('decimal', readDecimalValue));
  ajv.addKeyword(readingKeyword('picklist', readPicklistValue));
  ajv.addKeyword(readingKeyword('currency', readCurrency));
  ajv.addKeyword(readingKeyword('country', readCountry));
  ajv.addKeyword(readingKeyword('wholeNumber', readWholeNumber));
  ajv.addKeyword(readingKeyword('flag', readFlag));
  ajv.addKeyword(readingKeyword('dateOrInstant', checkDateOrInstant));
  ajv.addKeyword(readingKeyword('freeObject', readFreeObject));
  ajv.addKeyword(readingKeyword('canonicalUuid', readCanonicalUuid));
}
