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

/** Adds "contains, in any letter case" on one of the columns; `%` and `_` stand for themselves. */
export function search<M extends TenantModel>(
  query: TenantQueryBuilder<M>,
  columns: readonly string[],
  text: string | undefined,
): TenantQueryBuilder<M> {
  if (text === undefined || text === '') return query;
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return query.where((group) => {
    for (const column of columns) void group.orWhere(column, 'ilike', pattern);
  });
}
