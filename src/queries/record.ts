import type { Knex } from 'knex';
import { parseJson } from '../kernel/json.js';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import { prepareQuery } from '../models/prepared-query.js';
import { GenericRecord } from '../models/record.js';
import type { Sql } from '../models/record-key.js';
import type { RecordType } from '../models/record-type.js';
import type { TenantQueryBuilder } from '../models/tenant-model.js';
import type { Listed } from '../schemas/operation.js';
import type { PageRequest } from '../schemas/paging.js';
import type { StoredRecord } from '../schemas/record.js';
import { recordFilter } from './record-filter.js';
import { recordProjection } from './record-projection.js';
import { recordSort, type RecordSort } from './record-sort.js';
import { requireRecordType } from './record-type.js';

type RecordQuery = TenantQueryBuilder<GenericRecord>;

export function presentRecord(record: GenericRecord): StoredRecord {
  return {
    id: record.id,
    mobjectId: record.recordTypeId,
    data: parseJson(record.data) as StoredRecord['data'],
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}

export const missingRecord = (id: string) => problem.notFound(`There is no record '${id}'.`);

const recordById = prepareQuery(
  GenericRecord,
  { id: 'text', recordTypeId: 'text' },
  (query, { id, recordTypeId }) => query.modify('whole').findOne({ id, recordTypeId }),
);

/** A record by its id and type. 404: there is no such type or record. */
export async function getRecord(scope: Scope, typeKey: string, id: string): Promise<StoredRecord> {
  const { read } = scope.db;
  const type = await requireRecordType(read, scope.tenantId, typeKey);
  const [record] = await recordById(read, scope.tenantId, { id, recordTypeId: type.id });
  if (!record) throw missingRecord(id);
  return presentRecord(record);
}

/** What a list of records is asked for: see `schemas/record.ts`. */
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

const rowsOf = async (query: RecordQuery, { limit, offset }: PageRequest) =>
  query.modify('whole').limit(limit).offset(offset);

/**
 * A page in the order of a key column. The index has only records with that key: they come first,
 * then those without it.
 */
async function keyedPage(
  make: () => RecordQuery,
  sort: RecordSort,
  column: string,
  { limit, offset }: PageRequest,
): Promise<GenericRecord[]> {
  const withKey = () => make().whereNotNull(`record.${column}`);
  const order = withKey().orderBy([
    { column: `record.${column}`, order: sort.direction },
    { column: 'record.id', order: sort.direction },
  ]);
  const first = await rowsOf(order, { limit, offset });
  if (first.length === limit) return first;
  const skipped = first.length > 0 ? offset + first.length : await withKey().resultSize();
  const without = make().whereNull(`record.${column}`).orderBy('record.id', sort.direction);
  const rest = await rowsOf(without, {
    limit: limit - first.length,
    offset: Math.max(0, offset - skipped),
  });
  return [...first, ...rest];
}

/**
 * One page of the records of a type (document 2, section 4.3). 400: a filter, sort or field that
 * the type does not know. 404: there is no such type.
 */
export async function listRecords(
  scope: Scope,
  typeKey: string,
  request: RecordListRequest,
): Promise<Listed<StoredRecord>> {
  const { read } = scope.db;
  const type = await requireRecordType(read, scope.tenantId, typeKey);
  const conditions = (request.filter ?? []).map((text) => recordFilter(type, text));
  const sort = recordSort(type, request.sort);
  const project = recordProjection(type, request.fields);
  const make = () => chosen(read, type, conditions);
  const total =
    conditions.length === 0 ? await GenericRecord.countAll(read, type) : await make().resultSize();
  if (request.offset >= total) return { items: [], total };
  const rows =
    sort.keyColumn === null
      ? await rowsOf(ordered(make(), sort), request)
      : await keyedPage(make, sort, sort.keyColumn, request);
  const items = rows
    .map(presentRecord)
    .map((record) => ({ ...record, data: project(record.data) }));
  return { items, total };
}
