import type { Knex } from 'knex';
import { parseStoredInPortions } from '../../kernel/text/json-portions.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { mapInPortions } from '../../kernel/portions.js';
import { readRecords } from '../../models/db/read-records.js';
import { GenericRecord } from '../../models/records/record.js';
import type { Sql } from '../../models/records/record-key.js';
import type { RecordType } from '../../models/records/record-type.js';
import type { TenantQueryBuilder } from '../../models/db/tenant-model.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type { StoredRecord } from '../../schemas/records/record.js';
import { recordFilters } from './record-filter.js';
import { recordProjection } from './record-projection.js';
import { deepOffset, totalByPage } from '../lists/listing.js';
import { fillPage } from '../lists/page-bytes.js';
import { recordSort, type RecordSort } from './record-sort.js';
import { requireRecordType } from './record-type.js';

type RecordQuery = TenantQueryBuilder<GenericRecord>;

export async function presentRecord(record: GenericRecord): Promise<StoredRecord> {
  return {
    id: record.id,
    mobjectId: record.recordTypeId,
    data: (await parseStoredInPortions(record.data)) as StoredRecord['data'],
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}

export const missingRecord = (id: string) => problem.notFound(`There is no record '${id}'.`);

// The data as text: a parser of JSON would make floats of the numbers.
const recordSql = {
  name: 'record by id',
  text: `select id, record_type_id, created_at, updated_at, data::text as data
    from record where tenant_id = $1 and id = $2 and record_type_id = $3`,
};

/** A record by its id and type. 404: there is no such type or record. */
export async function getRecord(scope: Scope, typeKey: string, id: string): Promise<StoredRecord> {
  const { read } = scope.db;
  const type = await requireRecordType(read, scope.tenantId, typeKey);
  const [record] = await readRecords(GenericRecord, read, scope.tenantId, recordSql, [id, type.id]);
  if (!record) throw missingRecord(id);
  return presentRecord(record);
}

/** What a list of records is asked for: see `schemas/records/record.ts`. */
export interface RecordListRequest extends PageRequest {
  readonly filter?: readonly string[];
  readonly sort?: string;
  readonly fields?: string;
}

const chosen = (db: Knex, type: RecordType, conditions: readonly Sql[]): RecordQuery =>
  conditions.reduce<RecordQuery>(
    (query, { sql, bindings }) => query.whereRaw(sql, [...bindings]),
    GenericRecord.query(db).forTenant(type.tenantId).where('record.recordTypeId', type.id),
  );

function ordered(query: RecordQuery, { by, direction }: RecordSort): RecordQuery {
  return by
    .reduce(
      (sorted, { sql, bindings }) =>
        sorted.orderByRaw(`${sql} ${direction} nulls last`, [...bindings]),
      query,
    )
    .orderBy('record.id', direction);
}

/** A page; a deep one first finds its ids, for which the index is enough. */
async function rowsOf(
  db: Knex,
  query: RecordQuery,
  { tenantId }: RecordType,
  { limit, offset }: PageRequest,
): Promise<GenericRecord[]> {
  if (offset < deepOffset) return query.modify('light').limit(limit).offset(offset);
  const found = await query.select('record.id').limit(limit).offset(offset);
  const places = new Map(found.map(({ id }, index) => [id, index]));
  const rows = await GenericRecord.query(db)
    .forTenant(tenantId)
    .whereIn('record.id', [...places.keys()])
    .modify('light');
  return rows.sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
}

/**
 * A page in the order of a key column. The index has only records with that key: they come first,
 * then those without it.
 */
async function keyedPage(
  db: Knex,
  make: () => RecordQuery,
  type: RecordType,
  { direction, column }: Pick<RecordSort, 'direction'> & { readonly column: string },
  { limit, offset }: PageRequest,
): Promise<GenericRecord[]> {
  const withKey = () => make().whereNotNull(`record.${column}`);
  const order = withKey().orderBy([
    { column: `record.${column}`, order: direction },
    { column: 'record.id', order: direction },
  ]);
  const first = await rowsOf(db, order, type, { limit, offset });
  if (first.length === limit) return first;
  const skipped = first.length > 0 ? offset + first.length : await withKey().resultSize();
  const without = make().whereNull(`record.${column}`).orderBy('record.id', direction);
  const rest = await rowsOf(db, without, type, {
    limit: limit - first.length,
    offset: Math.max(0, offset - skipped),
  });
  return [...first, ...rest];
}

/** Records with their data; what is long was not read with the rest (see `light`). */
async function readData(
  db: Knex,
  tenantId: string,
  rows: readonly GenericRecord[],
): Promise<readonly GenericRecord[]> {
  const heavy = rows.filter(({ data }) => (data as string | null) === null);
  if (heavy.length === 0) return rows;
  const ids = heavy.map(({ id }) => id);
  const read = await GenericRecord.query(db)
    .forTenant(tenantId)
    .whereIn('record.id', ids)
    .modify('whole');
  const texts = new Map(read.map(({ id, data }) => [id, data]));
  for (const row of heavy) {
    // Deleted meanwhile: nothing of it is left to show.
    row.data = texts.get(row.id) ?? '{}';
  }
  return rows;
}

/**
 * One page of the records of a type (spec/platform.md R25 to R30). 400: a filter, sort or field
 * that the type does not know. 404: there is no such type.
 */
export async function listRecords(
  scope: Scope,
  typeKey: string,
  request: RecordListRequest,
): Promise<Listed<StoredRecord>> {
  const { read } = scope.db;
  const type = await requireRecordType(read, scope.tenantId, typeKey);
  const conditions = recordFilters(type, request.filter ?? []);
  const sort = recordSort(type, request.sort);
  const project = recordProjection(type, request.fields);
  const make = () => chosen(read, type, conditions);
  const rows =
    sort.keyColumn === null
      ? await rowsOf(read, ordered(make(), sort), type, request)
      : await keyedPage(read, make, type, { ...sort, column: sort.keyColumn }, request);
  const total =
    totalByPage(request, rows.length) ??
    (conditions.length === 0
      ? await GenericRecord.countAll(read, type)
      : await make().resultSize());
  const page = await fillPage(
    rows,
    (portion) => readData(read, type.tenantId, portion),
    ({ data }) => data.length,
  );
  const items = await mapInPortions(page.rows, async (row) => {
    const record = await presentRecord(row);
    return { ...record, data: project(record.data) };
  });
  return { items, total, isCut: page.isCut };
}
