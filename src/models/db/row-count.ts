import { prepareQuery, type PreparedQuery, type QueryableModel } from './prepared-query.js';
import { TenantModel } from './tenant-model.js';

/** The tables whose rows triggers count (docs/decisions/0077). */
const countedTables: ReadonlySet<string> = new Set([
  'account',
  'service',
  'contract',
  'payment',
  'wallet',
  'invoice',
]);

/** How many rows of a table a tenant has that exist: the sum of several rows. */
class RowCount extends TenantModel {
  static override tableName = 'row_count';
  static override idColumn = ['tenantId', 'tableName', 'id'];

  declare tableName: string;
  /** A `bigint`, so text. */
  declare total: string;
}

const tableOf = (model: object): string => Reflect.get(model, 'tableName') as string;

/** Whether the rows of this model are counted. */
export const isCounted = (model: object): boolean => countedTables.has(tableOf(model));

/** Reads how many rows of a model a tenant has, as `total`; null when it never had one. */
export function prepareRowCount<M extends TenantModel>(
  model: QueryableModel<M>,
): PreparedQuery<RowCount, Record<never, never>> {
  return prepareQuery(RowCount, {}, (query) =>
    query.where('tableName', tableOf(model)).sum('total as total'),
  );
}
