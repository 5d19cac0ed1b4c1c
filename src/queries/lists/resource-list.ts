import type { Scope } from '../../kernel/scope.js';
import { readRecords } from '../../models/db/read-records.js';
import { BillingRecord, type TenantModel } from '../../models/db/tenant-model.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type { Listed } from '../../schemas/http/operation.js';
import { deepOffset, totalByPage } from './listing.js';
import { searchSql } from './search.js';

/** The list of a resource in terms of SQL; triggers count the rows of its table. */
interface RecordList<M extends TenantModel, F extends string> {
  readonly model: (new () => M) & { readonly tableName: string };
  /** What is read of a row, where not all of it. */
  readonly columns?: string;
  /** Such as `invoice_date desc, id desc`. */
  readonly orderBy: string;
  readonly searched: readonly string[];
  /** What each filter is compared with, such as `account_id =`. */
  readonly filters?: Readonly<Record<F, string>>;
}

interface ListRequest<F extends string> {
  readonly page: PageRequest;
  readonly q: string | undefined;
  readonly filter?: { readonly [K in F]?: string | undefined };
  /** A condition of ours, written as that of a partial index is. */
  readonly only?: string | undefined;
  /** Whether many rows may be passed before those of the filter, which the index of the order knows. */
  readonly isScattered?: boolean;
}

/** First pages of so many are asked for again and again: they are planned once, in few plans. */
const usualLimits: ReadonlySet<number> = new Set([20, 50, 100]);

class Count {
  /** A `bigint`, so text; null where a tenant never had a row. */
  declare listTotal: string | null;
}

/**
 * One page of what exists of a resource, and how much there is. The second page of twenty of the
 * invoices of an account is
 *
 *   select * from invoice where tenant_id = $1 and account_id = $2
 *   order by invoice_date desc, length(invoice_no) desc, invoice_no desc limit 20 offset 20
 *
 * and gives `{ items: [Invoice, …], total: 48291 }`.
 */
export async function listRecords<M extends TenantModel, F extends string = never>(
  { model, columns = '*', orderBy, searched, filters }: RecordList<M, F>,
  { db: { read }, tenantId }: Scope,
  { page, q = '', filter = {}, only, isScattered = false }: ListRequest<F>,
): Promise<Listed<M>> {
  const values: string[] = [];
  const bind = (value: string): string => `$${values.push(value) + 1}`;
  const chosen: string[] = [];
  for (const [name, comparison] of Object.entries<string>(filters ?? {})) {
    const value = filter[name as F];
    if (value !== undefined) chosen.push(`${comparison} ${bind(value)}`);
  }
  if (q !== '') chosen.push(searchSql(searched, q, bind));
  if (only !== undefined) chosen.push(only);

  const isSoftDeleted = model.prototype instanceof BillingRecord;
  const existing = isSoftDeleted ? ['deleted_at is null'] : [];
  const from = `from ${model.tableName} where ${['tenant_id = $1', ...existing, ...chosen].join(' and ')}`;
  const end = `order by ${orderBy} limit ${page.limit} offset ${page.offset}`;
  const isCounted = chosen.length === 0;
  const all = isCounted ? countedSql(model.tableName) : `select count(*) ${from}`;
  // What is counted already comes with the page: another statement costs as much as the page.
  const shown = isCounted ? `${columns}, (${all}) as list_total` : columns;
  // The index of the order holds the ids: rows that are skipped are not read.
  const deep = `select ${shown} from ${model.tableName}
    where tenant_id = $1 and id in (select id ${from} ${end}) order by ${orderBy}`;
  const isDeep = isScattered || page.offset >= deepOffset;
  const sql = isDeep ? deep : `select ${shown} ${from} ${end}`;
  const isUsual = isCounted && page.offset === 0 && usualLimits.has(page.limit);
  const statement =
    isUsual && columns !== '*'
      ? { name: `${model.tableName} by ${orderBy}, ${page.limit}`, text: sql }
      : sql;
  const items = await readRecords(model, read, tenantId, statement, values);

  const [first] = items as readonly Partial<Count>[];
  const known = totalByPage(page, items.length) ?? first?.listTotal;
  if (known !== undefined) return { items, total: Number(known) };
  const [count] = await readRecords(Count, read, tenantId, `select (${all}) as list_total`, values);
  return { items, total: Number(count?.listTotal ?? 0) };
}

/** How many rows of a table exist (docs/decisions/0077): the sum of several rows. */
const countedSql = (table: string): string =>
  `select sum(total) from row_count where tenant_id = $1 and table_name = '${table}'`;
