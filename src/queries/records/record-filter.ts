import { isUuid } from '../../kernel/id.js';
import { parseJson, stringifyJson } from '../../kernel/text/json.js';
import { parseDecimal } from '../../kernel/numbers/money.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { problem, type Problem } from '../../kernel/problem.js';
import { instantOf } from '../../kernel/time/record-date.js';
import { keyLengthMax, type ScalarField, type Sql } from '../../models/records/record-key.js';
import type { RecordType } from '../../models/records/record-type.js';
import { patternOf } from '../lists/search.js';
import { resolveField, type RecordTarget } from './record-field.js';

/** Operators that compare with one value, as SQL and JSON paths write them. */
const comparisons = {
  eq: { sql: '=', path: '==' },
  ne: { sql: 'is distinct from', path: '==' },
  gt: { sql: '>', path: '>' },
  gte: { sql: '>=', path: '>=' },
  lt: { sql: '<', path: '<' },
  lte: { sql: '<=', path: '<=' },
} as const;
type Comparison = keyof typeof comparisons;
type Operator = Comparison | 'in' | 'contains';
const operators: readonly string[] = [...Object.keys(comparisons), 'in', 'contains'];

interface Filter {
  readonly name: string;
  readonly operator: Operator;
  readonly value: string;
}

/** Values of all the filters of a request that say `in`: see docs/decisions/0180. */
const filterValuesMax = 10_000;
/** Maximum length of a text to search for within another: it may be compared at each position. */
const containedLengthMax = 1_000;

/** 400 that names the field and the value. */
const badValue = ({ name, operator }: Filter, value: string, wanted: string): Problem =>
  problem.validation(`The value of the filter '${name}:${operator}' must be ${wanted}`, {
    field: name,
    value,
  });

/** `field:operator:value`; the value may hold colons. */
function readFilter(text: string): Filter {
  const [name = '', operator = ''] = text.split(':', 2);
  const start = name.length + operator.length + 2;
  if (name === '' || start > text.length) {
    throw problem.validation(`A 'filter' must be field:operator:value, not '${text}'`, {
      field: 'filter',
      value: text,
    });
  }
  if (!operators.includes(operator)) {
    throw problem.validation(
      `'${operator}' in 'filter' is not an operator; there are ${operators.join(', ')}`,
      { field: name, value: operator },
    );
  }
  return { name, operator: operator as Operator, value: text.slice(start) };
}

/** The texts that a filter compares with, each once: several only for `in`. */
const textsOf = ({ operator, value }: Filter): string[] =>
  operator === 'in' ? [...new Set(value.split(','))] : [value];

const isComparison = (operator: Operator): operator is Comparison => operator in comparisons;

const compare = (left: string, operator: Operator, right: string): string =>
  isComparison(operator)
    ? `${left} ${comparisons[operator].sql} ${right}`
    : `${left} = any(${right})`;

/** A column of the table itself against values of a type of SQL. */
function columnFilter(column: string, sqlType: string, filter: Filter, values: string[]): Sql {
  return filter.operator === 'in'
    ? { sql: compare(column, 'in', `?::${sqlType}[]`), bindings: [arrayLiteral(values, true)] }
    : { sql: compare(column, filter.operator, `?::${sqlType}`), bindings: values };
}

const containing = (text: string, value: string): Sql => ({
  sql: `position(?::text in ${text}) > 0`,
  bindings: [value],
});

function idFilter(filter: Filter): Sql {
  if (filter.operator === 'contains') return containing('record.id::text', filter.value);
  const ids = textsOf(filter);
  const wrong = ids.find((id) => !isUuid(id));
  if (wrong !== undefined) throw badValue(filter, wrong, 'a UUID');
  return columnFilter('record.id', 'uuid', filter, ids);
}

function readInstant(filter: Filter, text: string): string {
  const instant = instantOf(text);
  if (instant === null) throw badValue(filter, text, 'a date (YYYY-MM-DD) or an ISO 8601 instant');
  return instant;
}

function instantFilter(column: string, filter: Filter): Sql {
  if (filter.operator === 'contains') {
    const text = `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    return containing(text, filter.value);
  }
  const instants = textsOf(filter).map((text) => readInstant(filter, text));
  return columnFilter(column, 'timestamptz', filter, instants);
}

/** A value for a field of a declared type as JSON text. */
function readScalar(filter: Filter, { type }: ScalarField, text: string): string {
  switch (type) {
    case 'string':
      return JSON.stringify(text);
    case 'date':
      return JSON.stringify(readInstant(filter, text));
    case 'boolean':
      if (text === 'true' || text === 'false') return text;
      throw badValue(filter, text, 'true or false');
    case 'number': {
      const number = parseDecimal(text);
      if (number === null) throw badValue(filter, text, 'a number of at most 38 digits');
      return stringifyJson(number);
    }
  }
}

/**
 * Filters long texts: keys hold their beginning and preselect few records, then the whole texts are
 * compared.
 */
function longTextFilter(key: Sql, field: ScalarField, filter: Filter): Sql {
  const texts = textsOf(filter);
  const whole = `(record.data ->> ?::text) collate "C"`;
  const exact = columnFilter(whole, 'text', filter, texts);
  const bindings = [field.name, ...exact.bindings];
  if (filter.operator === 'ne') return { sql: exact.sql, bindings };
  const cut = texts.map((text) => Array.from(text).slice(0, keyLengthMax).join(''));
  const wide = ({ gt: 'gte', lt: 'lte' } as const)[filter.operator as string] ?? filter.operator;
  const rough = columnFilter(key.sql, 'text', { ...filter, operator: wide }, cut);
  return {
    sql: `(${rough.sql} and ${exact.sql})`,
    bindings: [...key.bindings, ...rough.bindings, ...bindings],
  };
}

/** A trigram index cannot find shorter texts. */
const indexedLengthMin = 3;

/**
 * `exact`, preceded by a condition for the trigram index: a scalar contains a text only if the JSON
 * of its record does (docs/decisions/0150).
 */
function indexed(exact: Sql, value: string): Sql {
  if (value.length < indexedLengthMin) return exact;
  const pattern = patternOf(JSON.stringify(value).slice(1, -1));
  return {
    sql: `(record.data::text ilike ? and ${exact.sql})`,
    bindings: [pattern, ...exact.bindings],
  };
}

function scalarFilter(key: Sql, field: ScalarField, filter: Filter): Sql {
  const { operator, value } = filter;
  if (operator === 'contains') {
    const { sql, bindings } = containing('(record.data ->> ?::text)', value);
    return indexed({ sql, bindings: [...bindings, field.name] }, value);
  }
  const texts = textsOf(filter);
  if (field.type === 'string' && texts.some((text) => text.length >= keyLengthMax)) {
    return longTextFilter(key, field, filter);
  }
  const values = texts.map((text) => readScalar(filter, field, text));
  const keys = values.map(() => 'record_key(?::jsonb, ?::text)');
  const right = operator === 'in' ? `array[${keys.join(', ')}]` : keys.join();
  return {
    sql: compare(key.sql, operator, right),
    bindings: [...key.bindings, ...values.flatMap((json) => [json, field.type])],
  };
}

/** An object, or for `in` an array of objects, as JSON text. */
function readObjects(filter: Filter): string {
  let value: unknown;
  try {
    value = parseJson(filter.value);
  } catch {
    value = undefined;
  }
  const objects: unknown[] = filter.operator === 'in' && Array.isArray(value) ? value : [value];
  const isObject = (one: unknown) =>
    typeof one === 'object' && one !== null && Object.getPrototypeOf(one) === Object.prototype;
  if (!objects.every(isObject)) {
    throw badValue(filter, filter.value, 'a JSON object; for in an array of them');
  }
  return stringifyJson(filter.operator === 'in' ? objects : value);
}

/**
 * Filters by an object: compared by the order of jsonb in PostgreSQL; `contains` is containment.
 */
function objectFilter(name: string, filter: Filter): Sql {
  const { operator } = filter;
  const json = readObjects(filter);
  const value = 'record.data -> ?::text';
  if (operator === 'ne')
    return { sql: `(${value}) is distinct from ?::jsonb`, bindings: [name, json] };
  const test = isComparison(operator)
    ? `(${value}) ${comparisons[operator].sql} ?::jsonb`
    : operator === 'in'
      ? `(${value}) in (select jsonb_array_elements(?::jsonb))`
      : `(${value}) @> ?::jsonb`;
  return {
    sql: `(jsonb_typeof(${value}) = 'object' and ${test})`,
    bindings: [name, name, json],
  };
}

/** The values that a text may mean where no type is declared: the text, a number, a boolean. */
function meaningsOf(text: string): unknown[] {
  const number = parseDecimal(text);
  return [
    text,
    ...(number === null ? [] : [number]),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ];
}

/** `$."a"."b"`; arrays on the way and at the end stand for their elements. */
const pathOf = (path: readonly string[]): string =>
  `$${path.map((step) => `.${JSON.stringify(step)}`).join('')}`;

/**
 * Whether one of many values is stored at a path. PostgreSQL hashes the values of an array and
 * looks up each stored element; a JSON path with as many comparisons would compare each with each.
 * Like comparisons in paths, it unwraps two levels of arrays.
 */
function pathInFilter(path: readonly string[], meanings: readonly unknown[]): Sql {
  return {
    sql: `exists (
      select from jsonb_path_query(record.data, ?::jsonpath, '{}', true) as item (value)
      where item.value = any(?::jsonb[]))`,
    bindings: [`${pathOf(path)}[*][*]`, arrayLiteral(meanings.map(stringifyJson), true)],
  };
}

/** By the type of what is stored: a number with a number, a text with a text. */
function pathFilter(path: readonly string[], filter: Filter): Sql {
  const { operator, value } = filter;
  if (operator === 'contains') {
    const item = containing(`(item.value #>> '{}')`, value);
    const exact = {
      sql: `exists (
        select from jsonb_path_query(record.data, ?::jsonpath, '{}', true) as item (value)
        where jsonb_typeof(item.value) in ('string', 'number', 'boolean') and ${item.sql})`,
      bindings: [`${pathOf(path)}[*]`, ...item.bindings],
    };
    return indexed(exact, value);
  }
  const meanings = textsOf(filter).flatMap(meaningsOf);
  if (operator === 'in') return pathInFilter(path, meanings);
  const sign = comparisons[operator].path;
  const tests = meanings.map((_meaning, index) => `@ ${sign} $v${index}`);
  const values = Object.fromEntries(meanings.map((meaning, index) => [`v${index}`, meaning]));
  return {
    sql: `${operator === 'ne' ? 'not ' : ''}jsonb_path_exists(record.data, ?::jsonpath, ?::jsonb, true)`,
    bindings: [`${pathOf(path)} ? (${tests.join(' || ')})`, stringifyJson(values)],
  };
}

function filterOf(target: RecordTarget, filter: Filter): Sql {
  switch (target.kind) {
    case 'id':
      return idFilter(filter);
    case 'instant':
      return instantFilter(target.column, filter);
    case 'scalar':
      return scalarFilter(target.key, target.field, filter);
    case 'object':
      return objectFilter(target.name, filter);
    case 'path':
      return pathFilter(target.path, filter);
  }
}

/** 400: the filter exceeds what a request may cost. */
function checkCost({ name, operator, value }: Filter, valuesLeft: number): number {
  if (operator === 'contains' && value.length > containedLengthMax) {
    const message = `A filter '${name}:contains' looks for at most ${containedLengthMax} characters`;
    throw problem.validation(message, { field: name });
  }
  const left = operator === 'in' ? valuesLeft - value.split(',').length : valuesLeft;
  if (left < 0) {
    const message = `The filters of a request name at most ${filterValuesMax} values in all`;
    throw problem.validation(`${message}; '${name}:in' goes beyond that`, { field: name });
  }
  return left;
}

/**
 * The conditions of filters `field:operator:value` on the table `record` (docs/decisions/0086, 0180).
 * 400: no such field or operator, a value that the field cannot have, or more values than a request
 * may name.
 */
export function recordFilters(type: RecordType, texts: readonly string[]): Sql[] {
  let valuesLeft = filterValuesMax;
  return texts.map((text) => {
    const filter = readFilter(text);
    valuesLeft = checkCost(filter, valuesLeft);
    return filterOf(resolveField(type, filter.name, 'filter'), filter);
  });
}
