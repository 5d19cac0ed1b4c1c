import { raw } from 'objection';
import { mapInPortions } from '../../kernel/portions.js';
import type { TenantModel, TenantQueryBuilder } from '../../models/db/tenant-model.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type { Listed } from '../../schemas/http/operation.js';
import { fillPage, type Filled, type Place } from './page-bytes.js';

/** The total row count if a page implies it: a page that is not full is the last one. */
export function totalByPage({ limit, offset }: PageRequest, found: number): number | undefined {
  return found < limit && (found > 0 || offset === 0) ? offset + found : undefined;
}

/**
 * One page of a query with the total row count, which is queried only if the page does not imply
 * it.
 */
export async function listPage<M extends TenantModel, T>(
  query: TenantQueryBuilder<M>,
  page: PageRequest,
  present: (model: M) => T,
): Promise<Listed<T>> {
  const rows = await query.clone().limit(page.limit).offset(page.offset);
  const total = totalByPage(page, rows.length) ?? (await query.clone().clearOrder().resultSize());
  return { items: rows.map(present), total };
}

/**
 * From this offset on, a page first selects ids alone: reading the skipped rows would cost more.
 */
export const deepOffset = 1_000;

/** The size of a list's rows. */
export interface RowWeight<M> {
  /** SQL for the most bytes that a row may have, found without reading what is long. */
  readonly sql: string;
  /** The bytes that a row has; those of one with thousands of parts are counted in portions. */
  readonly bytesOf: (row: M) => number | Promise<number>;
  /** Reads what else belongs to rows. */
  readonly complete?: (rows: readonly M[]) => Promise<readonly M[]>;
}

/** The ids of a page with the sizes of their rows; at a deep offset, from the index alone. */
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

/**
 * A page of a query with rows that may be long: it ends before its limit if it would be too large.
 */
export async function readHeavyPage<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  page: PageRequest,
  { sql, bytesOf, complete }: RowWeight<M>,
): Promise<Filled<M> & { readonly found: number }> {
  const places = await findPlaces(query, page, sql);
  const id = `${query.tableRefFor(query.modelClass())}.id`;
  const filled = await fillPage(
    places,
    async (portion) => {
      const ids = portion.map((place) => place.id);
      const rows = await query.clone().whereIn(id, ids);
      return complete ? complete(rows) : rows;
    },
    bytesOf,
  );
  return { ...filled, found: places.length };
}

/** The same as `listPage` of rows that may be long. */
export async function listHeavyPage<M extends TenantModel, T>(
  query: TenantQueryBuilder<M>,
  page: PageRequest,
  present: (model: M) => T | Promise<T>,
  weight: RowWeight<M>,
): Promise<Listed<T>> {
  const { rows, isCut, found } = await readHeavyPage(query, page, weight);
  const total =
    totalByPage(page, found) ??
    (await query.clone().clearOrder().clearSelect().clearWithGraph().resultSize());
  return { items: await mapInPortions(rows, present), total, isCut };
}

/** A page of a query whose order and ids are covered by an index. */
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
