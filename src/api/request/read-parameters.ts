import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import { validate } from '../../schemas/fields/validator.js';
import type { Operation } from '../../schemas/http/operation.js';
import { recordOfParam } from '../../schemas/http/record-id.js';

/** The name of the resource of `{accountId}` in "There is no account '…'." */
const resourceName = (param: string): string =>
  param.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * The path parameters, ids in lower case. 404: an id is malformed, and its record has no natural
 * key.
 */
export function readParams(operation: Operation, params: Readonly<Record<string, string>>) {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    const isText =
      !name.endsWith('Id') ||
      operation.textParams?.includes(name) === true ||
      (recordOfParam(name) !== undefined && !isUuid(value));
    if (isText ? value.includes('\0') : !isUuid(value)) {
      throw problem.notFound(`There is no ${resourceName(name)} '${value.replaceAll('\0', '?')}'.`);
    }
    read[name] = isText ? value : value.toLowerCase();
  }
  return read;
}

/** 400: a path parameter is not one of its allowed values. */
export function checkPathValues(
  { pathValues = {} }: Operation,
  params: Record<string, unknown>,
): void {
  for (const [name, known] of Object.entries(pathValues)) {
    const value = String(params[name]);
    if (known.includes(value)) continue;
    const shown = value.slice(0, 200);
    throw problem.validation(`'${name}' '${shown}' must be one of: ${known.join(', ')}`, {
      field: name,
      value: shown,
    });
  }
}

/** A parameter that may be repeated is a list, even of one. 400: one that may not be, is. */
function valueOf(name: string, schema: TSchema | undefined, value: unknown): unknown {
  const isList = schema !== undefined && 'type' in schema && schema.type === 'array';
  if (isList) return typeof value === 'string' ? [value] : value;
  if (schema !== undefined && Array.isArray(value)) {
    throw problem.validation(`'${name}' must be given once; it is there ${value.length} times`, {
      field: name,
    });
  }
  return value;
}

/**
 * 400: the operation has no such parameter; a misspelt filter must not return everything. Only
 * OAuth has to ignore unknown parameters (RFC 6749, section 3.1).
 */
function refuseParameter({ family }: Operation, name: string, known: readonly string[]): void {
  if (family === 'gateway') return;
  const shown = name.replaceAll('\0', '?').slice(0, 200);
  const hint = known.length === 0 ? 'There are none here.' : `Known are: ${known.join(', ')}.`;
  throw problem.validation(`'${shown}' is not a known query parameter. ${hint}`, { field: shown });
}

/** Parameters whose names callers choose, as the declaration's patterns have them. */
const patternsOf = ({ query }: Operation): object =>
  (query as { readonly patternProperties?: object } | undefined)?.patternProperties ?? {};

/** `^dimension:.+$` as a caller reads it. */
const named = (pattern: string): string => pattern.replace(/^\^(.*)\.\+\$$/, '$1<name>');

/**
 * Query parameters as one text each, or as a list of texts where the declaration is an array; a
 * repeated one is refused where one is expected.
 */
export function readQuery(operation: Operation, query: Context['query']): Record<string, unknown> {
  const known = operation.query?.properties ?? {};
  const patterns = Object.keys(patternsOf(operation));
  const given = Object.entries(query);
  for (const [name, value] of given) {
    const isKnown =
      Object.hasOwn(known, name) || patterns.some((pattern) => new RegExp(pattern).test(name));
    if (!isKnown) refuseParameter(operation, name, [...Object.keys(known), ...patterns.map(named)]);
    if (String(value).includes('\0')) {
      throw problem.validation(`'${name}' contains a character that cannot be stored`, {
        field: name,
      });
    }
  }
  if (!operation.query) return {};
  const values = given.map(([name, value]) => [name, valueOf(name, known[name], value)]);
  return validate(operation.query, Object.fromEntries(values));
}
