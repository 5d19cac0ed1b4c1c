import { raw } from 'objection';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type { Scope } from '../../kernel/scope.js';
import { mapInPortions } from '../../kernel/portions.js';
import { prepareQuery, type QueryableModel } from '../../models/db/prepared-query.js';
import { isCounted, prepareRowCount } from '../../models/db/row-count.js';
import {
  BillingRecord,
  type TenantModel,
  type TenantQueryBuilder,
} from '../../models/db/tenant-model.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type { Listed } from '../../schemas/http/operation.js';
import { fillPage, type Filled, type Place } from './page-bytes.js';

/** The number of all rows, where a page of them tells it: one that is not full is the last. */
export function totalByPage({ limit, offset }: PageRequest, found: number): number | undefined {
  return found < limit && (found > 0 || offset === 0) ? offset + found : undefined;
}

/** One page of a query and the number of all its rows, counted where the page does not tell. */
export async function listPage<M extends TenantModel, T>(
  query: TenantQueryBuilder<M>,
  page: PageRequest,
  present: (model: M) => T,
): Promise<Listed<T>> {
  const rows = await query.clone().limit(page.limit).offset(page.offset);
  const total = totalByPage(page, rows.length) ?? (await query.clone().clearOrder().resultSize());
  return { items: rows.map(present), total };
}

/** From here on a page first finds its ids: reading the rows before it would cost more. */
export const deepOffset = 1_000;

/** What rows of a list may weigh. */
export interface RowWeight<M> {
  /** SQL for the most bytes that a row may have, found without reading what is long. */
  readonly sql: string;
  /** The bytes that a row has. */
  readonly bytesOf: (row: M) => number;
}

/** The ids of a page with what their rows weigh; a deep one finds its ids in the index alone. */
async function findPlaces<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  { limit, offset }: PageRequest,
  weight: string,
): Promise<readonly Place[]> {
  const bare = query.clone().clearSelect().clearWithGraph();
  const id = `${bare.tableRefFor(bare.modelClass())}.id`;
  const weighed = bare.clone().select(id, raw(weight).as('weight'));
  if (offset < deepOffset) {
    return await weighed.limit(limit).offset(offset);
  }
  const found = await bare.select(id).limit(limit).offset(offset);
  const ids = found.map((row) => row.id);
  return await weighed.whereIn(id, ids);
}

/** A page of a query whose rows may be long: it ends early where it would be too large. */
export async function readHeavyPage<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  page: PageRequest,
  { sql, bytesOf }: RowWeight<M>,
): Promise<Filled<M> & { readonly found: number }> {
  const places = await findPlaces(query, page, sql);
  const id = `${query.tableRefFor(query.modelClass())}.id`;
  const filled = await fillPage(
    places,
    async (portion) =>
      query.clone().whereIn(
        id,
        portion.map((place) => place.id),
      ),
    bytesOf,
  );
  return { ...filled, found: places.length };
}

/** The same as `listPage` of rows that may be long. */
export async function listHeavyPage<M extends TenantModel, T>(
  query: TenantQueryBuilder<M>,
  page: PageRequest,
  present: (model: M) => T,
  weight: RowWeight<M>,
): Promise<Listed<T>> {
  const { rows, isCut, found } = await readHeavyPage(query, page, weight);
  const total =
    totalByPage(page, found) ??
    (await query.clone().clearOrder().clearSelect().clearWithGraph().resultSize());
  return { items: await mapInPortions(rows, present), total, isCut };
}

/** A page of a query whose order an index holds together with the ids. */
export async function readPage<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  { limit, offset }: PageRequest,
): Promise<M[]> {
  if (offset < deepOffset) return query.clone().limit(limit).offset(offset);
  const found = await query.clone().select('id').limit(limit).offset(offset);
  return query.clone().whereIn(
    'id',
    found.map(({ id }) => id),
  );
}

/** Text that `ilike` finds anywhere; `%` and `_` stand for themselves. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * The word of a searched text by which an index finds few rows: the longest one with a digit, where
 * there are others. What stands before each number, such as `Account` or `INV`, is in every row, and
 * the index would read all that it has of it (docs/decisions/0153).
 */
export function tellingWord(text: string): string | undefined {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [longest] = words
    .filter((word) => /\p{N}/u.test(word) && word.length >= wordLengthMin)
    .sort((a, b) => b.length - a.length);
  return words.length > 1 ? longest : undefined;
}

/** An index knows texts by three characters in a row. */
const wordLengthMin = 3;

/** What a search looks for, as patterns of `ilike`; without a telling word the whole is looked up. */
const patternsOf = (text: string): { whole: string; word?: string } => {
  const word = tellingWord(text);
  return { whole: patternOf(text), ...(word === undefined ? {} : { word: patternOf(word) }) };
};

function matching<M extends TenantModel, R>(
  query: TenantQueryBuilder<M, R>,
  columns: readonly string[],
  pattern: string,
): TenantQueryBuilder<M, R> {
  return query.where((group) => {
    for (const column of columns) void group.orWhere(column, 'ilike', pattern);
  });
}

/** The same, but no index is asked: of the few rows that another condition has found. */
function checking<M extends TenantModel, R>(
  query: TenantQueryBuilder<M, R>,
  columns: readonly string[],
  pattern: string,
): TenantQueryBuilder<M, R> {
  return query.where((group) => {
    for (const column of columns) void group.orWhereRaw(`(?? || '') ilike ?`, [column, pattern]);
  });
}

/** Adds "contains, in any letter case" on one of the columns. */
export function search<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  columns: readonly string[],
  text: string | undefined,
): TenantQueryBuilder<M> {
  if (text === undefined || text === '') return query;
  const { whole, word } = patternsOf(text);
  return word === undefined
    ? matching(query, columns, whole)
    : checking(matching(query, columns, word), columns, whole);
}

/** A column, ascending unless it says otherwise. */
type Order = string | { readonly column: string; readonly order: 'asc' | 'desc' };

/** What a column of the rows must be to the value that a caller gives for it. */
interface Filter {
  readonly column: string;
  readonly operator: '=' | '>=' | '<=';
}

interface ListRules<F extends string> {
  readonly orderBy: readonly Order[];
  readonly searched: readonly string[];
  /** What is read of a row, where not all of it. */
  readonly columns?: readonly string[];
  readonly filters?: Readonly<Record<F, Filter>>;
}

type FilterValues<F extends string> = { readonly [K in F]?: string | undefined };

/** The list of a resource: a page in one order, with a search and filters that all must hold. */
export type ResourceList<M, F extends string = never> = (
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
  given?: FilterValues<F>,
) => Promise<Listed<M>>;

/** The count and the page of a list for the search and filters of these names. */
function prepareFor<M extends TenantModel, F extends string>(
  model: QueryableModel<M>,
  { orderBy, searched, filters, columns = ['*'] }: ListRules<F>,
  names: readonly string[],
) {
  const order = orderBy.map((one) => (typeof one === 'string' ? { column: one } : one));
  const values = Object.fromEntries(names.map((name) => [name, 'text' as const]));
  const isSoftDeleted = Reflect.get(model, 'prototype') instanceof BillingRecord;
  const chosen = <R>(
    query: TenantQueryBuilder<M, R>,
    given: Readonly<Record<string, string | number>>,
  ): TenantQueryBuilder<M, R> =>
    names.reduce(
      (found, name) => {
        const value = given[name] ?? '';
        const filter = filters?.[name as F];
        if (filter) return found.where(filter.column, filter.operator, value);
        const isChecked = name === 'whole' && names.includes('word');
        return (isChecked ? checking : matching)(found, searched, String(value));
      },
      isSoftDeleted ? query.existing() : query,
    );
  const count = prepareQuery(model, values, (query, given) =>
    chosen(query.count('* as total'), given),
  );
  return {
    count: names.length === 0 && isCounted(model) ? prepareRowCount(model) : count,
    /** The ids alone, which the index of the order holds: rows that are skipped are not read. */
    ids: prepareQuery(
      model,
      { ...values, limit: 'number' as const, offset: 'number' as const },
      (query, given) =>
        chosen(query.select('id'), given).orderBy(order).limit(given.limit).offset(given.offset),
    ),
    byIds: prepareQuery(model, { ids: 'text' as const }, (query, { ids }) =>
      query
        .select(...columns)
        .whereRaw('id = any(?::uuid[])', [ids])
        .orderBy(order),
    ),
    page: prepareQuery(
      model,
      { ...values, limit: 'number' as const, offset: 'number' as const },
      (query, given) =>
        chosen(query.select(...columns), given)
          .orderBy(order)
          .limit(given.limit)
          .offset(given.offset),
    ),
  };
}

/**
 * A list of everything of a model that exists, its SQL built once for each choice of filters (see
 * `prepareQuery`).
 */
export function prepareList<M extends TenantModel, F extends string = never>(
  model: QueryableModel<M>,
  rules: ListRules<F>,
): ResourceList<M, F> {
  const filterNames = Object.keys(rules.filters ?? {}) as F[];
  const prepared = new Map<string, ReturnType<typeof prepareFor<M, F>>>();
  return async ({ db, tenantId }, page, q = '', given = {}) => {
    const values: Record<string, string> = q === '' ? {} : patternsOf(q);
    for (const name of filterNames) {
      const value = given[name];
      if (value !== undefined) values[name] = value;
    }
    const names = Object.keys(values);
    const key = names.join();
    const reads = prepared.get(key) ?? prepareFor(model, rules, names);
    prepared.set(key, reads);
    const paged = { ...values, ...page };
    const totalOf = async (found: number): Promise<number> => {
      const known = totalByPage(page, found);
      if (known !== undefined) return known;
      const [counted] = await reads.count(db.read, tenantId, values);
      return Number((counted as unknown as { total: string | null }).total ?? 0);
    };
    if (page.offset < deepOffset) {
      const items = await reads.page(db.read, tenantId, paged);
      return { items, total: await totalOf(items.length) };
    }
    const found = await reads.ids(db.read, tenantId, paged);
    const total = await totalOf(found.length);
    const ids = arrayLiteral(found.map(({ id }) => id));
    return { items: await reads.byIds(db.read, tenantId, { ids }), total };
  };
}
