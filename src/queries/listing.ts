import type { Scope } from '../kernel/scope.js';
import { prepareQuery, type QueryableModel } from '../models/prepared-query.js';
import type { TenantModel, TenantQueryBuilder } from '../models/tenant-model.js';
import type { PageRequest } from '../schemas/paging.js';
import type { Listed } from '../schemas/operation.js';

/** One page of a query and the count of all its rows: two statements, one after the other. */
export async function listPage<M extends TenantModel, T>(
  query: TenantQueryBuilder<M>,
  { limit, offset }: PageRequest,
  present: (model: M) => T,
): Promise<Listed<T>> {
  const total = await query.clone().clearOrder().resultSize();
  if (offset >= total) return { items: [], total };
  const rows = await query.clone().limit(limit).offset(offset);
  return { items: rows.map(present), total };
}

/** Text that `ilike` finds anywhere; `%` and `_` stand for themselves. */
const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

function matching<M extends TenantModel, R>(
  query: TenantQueryBuilder<M, R>,
  columns: readonly string[],
  pattern: string,
): TenantQueryBuilder<M, R> {
  return query.where((group) => {
    for (const column of columns) void group.orWhere(column, 'ilike', pattern);
  });
}

/** Adds "contains, in any letter case" on one of the columns. */
export function search<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  columns: readonly string[],
  text: string | undefined,
): TenantQueryBuilder<M> {
  if (text === undefined || text === '') return query;
  return matching(query, columns, patternOf(text));
}

/** The list of a resource: a page of what exists, in one order, with a search. */
export type ResourceList<M> = (
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
) => Promise<Listed<M>>;

/** A column, ascending unless it says otherwise. */
type Order = string | { readonly column: string; readonly order: 'asc' | 'desc' };

/** A list of everything of a model that exists, its SQL built once (see `prepareQuery`). */
export function prepareList<M extends TenantModel>(
  model: QueryableModel<M>,
  {
    orderBy,
    searched,
  }: { readonly orderBy: readonly Order[]; readonly searched: readonly string[] },
): ResourceList<M> {
  const order = orderBy.map((one) => (typeof one === 'string' ? { column: one } : one));
  const paging = { limit: 'number', offset: 'number' } as const;
  const found = { pattern: 'text' } as const;
  const count = prepareQuery(model, {}, (query) => query.existing().count('* as total'));
  const countFound = prepareQuery(model, found, (query, { pattern }) =>
    matching(query.existing().count('* as total'), searched, pattern),
  );
  const page = prepareQuery(model, paging, (query, { limit, offset }) =>
    query.existing().orderBy(order).limit(limit).offset(offset),
  );
  const pageFound = prepareQuery(model, { ...paging, ...found }, (query, values) =>
    matching(query.existing(), searched, values.pattern)
      .orderBy(order)
      .limit(values.limit)
      .offset(values.offset),
  );
  return async ({ db, tenantId }, { limit, offset }, q = '') => {
    const pattern = q === '' ? undefined : patternOf(q);
    const counted =
      pattern === undefined
        ? await count(db.read, tenantId, {})
        : await countFound(db.read, tenantId, { pattern });
    const total = Number((counted[0] as unknown as { total: string }).total);
    if (offset >= total) return { items: [], total };
    const items =
      pattern === undefined
        ? await page(db.read, tenantId, { limit, offset })
        : await pageFound(db.read, tenantId, { limit, offset, pattern });
    return { items, total };
  };
}
