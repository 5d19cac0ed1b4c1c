import type { Knex } from 'knex';
import { raw, type Modifiers } from 'objection';
import { arrayLiteral, joinJson, splitJsonSql } from '../../kernel/text/postgres-array.js';
import {
  fittingKeyOf,
  isScalarField,
  keyOf,
  uniqueColumns,
  type ScalarField,
  type Sql,
} from './record-key.js';
import type { RecordType } from './record-type.js';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';

/** A record that is to be written. */
export interface RecordInput {
  readonly id: string;
  /** JSON text. */
  readonly data: string;
}

/** The fields of a type that have a key column, each with it. */
function keyedFields(type: RecordType): { field: ScalarField; column: string }[] {
  return (type.declaredFields() ?? []).filter(isScalarField).flatMap((field) => {
    const column = type.keys[field.name];
    return column === undefined ? [] : [{ field, column }];
  });
}

const bindingsOf = (parts: readonly Sql[]) => parts.flatMap(({ bindings }) => bindings);

/** Rows of JSON texts and ids as one `from` item with the columns `id`, `data` and `position`. */
function inputRows(rows: readonly RecordInput[]): { from: string; values: string[] } {
  const texts = rows.map(({ data }) => data);
  const joined = joinJson(texts);
  return {
    from: `unnest(?::uuid[], ${joined === null ? '?::text[]' : splitJsonSql})
      with ordinality as input (id, data, position)`,
    values: [arrayLiteral(rows.map(({ id }) => id)), joined ?? arrayLiteral(texts, true)],
  };
}

/** Data of at most this many stored bytes, not compressed, is read with its row. */
const lightBytes = 4_096;

/** A record of a caller's own type: the wire's mdata. */
export class GenericRecord extends TenantModel {
  static override tableName = 'record';
  static override modifiers: Modifiers = {
    // As text: a parser of JSON would make floats of the numbers.
    whole: (query) =>
      void query.select(
        'record.id',
        'record.recordTypeId',
        'record.createdAt',
        'record.updatedAt',
        raw('record.data::text as data'),
      ),
    // Long data is not read; instead, `weight` is the size as stored: see
    // `queries/lists/page-bytes.ts`.
    light: (query) =>
      void query.select(
        'record.id',
        'record.recordTypeId',
        'record.createdAt',
        'record.updatedAt',
        raw(`case when pg_column_size(record.data) <= ${lightBytes}
          and pg_column_compression(record.data) is null then record.data::text end as data`),
        raw(`pg_column_size(record.data)
          * case when pg_column_compression(record.data) is null then 2 else 80 end as weight`),
      ),
  };

  declare recordTypeId: string;
  /** JSON text. */
  declare data: string;
  declare createdAt: Date;
  declare updatedAt: Date;
  /** The most bytes that its JSON may have; only where `light` was asked for. */
  declare weight?: string | number;

  /**
   * Writes the records with one statement, in their order; one with a unique value that another
   * record has, also an earlier one of these, is left out. Returns the ids of those written.
   */
  static async insertNew(
    trx: Knex.Transaction,
    type: RecordType,
    rows: readonly RecordInput[],
    createdAt: Date,
  ): Promise<Set<string>> {
    const keyed = keyedFields(type);
    const columns = ['', ...keyed.map(({ column }) => column)].join(', ');
    const keys = keyed.map(({ field }) => fittingKeyOf('input.json', field));
    const { from, values } = inputRows(rows);
    const inserted = await sqlRows<{ id: string }>(
      trx,
      `insert into record (tenant_id, record_type_id, created_at, updated_at, id, data ${columns})
       select ?::text, ?::uuid, ?::timestamptz, ?::timestamptz, input.id, input.json
         ${keys.map(({ sql }) => `, ${sql}`).join('')}
       from (select id, data::jsonb as json, position from ${from} order by position) as input
       on conflict do nothing
       returning id`,
      [type.tenantId, type.id, createdAt, createdAt, ...bindingsOf(keys), ...values] as string[],
    );
    return new Set(inserted.map(({ id }) => id));
  }

  /** Of each of these records, the first unique field whose value another record has. */
  static async findConflicts(
    trx: Knex.Transaction,
    type: RecordType,
    rows: readonly RecordInput[],
  ): Promise<Map<string, string>> {
    const unique = keyedFields(type).filter(({ column }) => uniqueColumns.includes(column));
    if (unique.length === 0 || rows.length === 0) return new Map();
    const keys = unique.map(({ field }) => keyOf('input.data::jsonb', field));
    const { from, values } = inputRows(rows);
    const parts = unique.map(
      ({ column }, index) =>
        `select input.id, ?::text as field from ${from}
         join record on record.tenant_id = ?::text and record.record_type_id = ?::uuid
           and record.${column} = ${keys[index]?.sql ?? ''}`,
    );
    const bindings = unique.flatMap(({ field }, index) => [
      field.name,
      ...values,
      type.tenantId,
      type.id,
      ...(keys[index]?.bindings ?? []),
    ]);
    const taken = await sqlRows<{ id: string; field: string }>(
      trx,
      parts.join(' union all '),
      bindings,
    );
    // Of several fields the one that was declared first.
    return new Map(taken.map(({ id, field }) => [id, field] as const).reverse());
  }

  /** Replaces the data of a record, and its keys. */
  static async replaceData(
    trx: Knex.Transaction,
    type: RecordType,
    { id, data }: RecordInput,
    updatedAt: Date,
  ): Promise<void> {
    const keyed = keyedFields(type);
    const keys = keyed.map(({ field }) => fittingKeyOf('input.data', field));
    await trx.raw(
      `update record set data = input.data, updated_at = ?::timestamptz
         ${keyed.map(({ column }, index) => `, ${column} = ${keys[index]?.sql ?? ''}`).join('')}
       from (select ?::jsonb as data) as input
       where record.tenant_id = ?::text and record.id = ?::uuid`,
      [updatedAt, ...bindingsOf(keys), data, type.tenantId, id] as string[],
    );
  }

  /** Fills the key columns of all records of a type from their data; `cleared` become null. */
  static async fillKeys(
    trx: Knex.Transaction,
    type: RecordType,
    {
      filled,
      cleared,
    }: { readonly filled: ReadonlySet<string>; readonly cleared: readonly string[] },
  ): Promise<void> {
    const keyed = keyedFields(type).filter(({ column }) => filled.has(column));
    const keys = keyed.map(({ field }) => keyOf('record.data', field));
    const changes = [
      ...keyed.map(({ column }, index) => `${column} = ${keys[index]?.sql ?? ''}`),
      ...cleared.map((column) => `${column} = null`),
    ];
    if (changes.length === 0) return;
    await trx.raw(
      `update record set ${changes.join(', ')} where tenant_id = ?::text and record_type_id = ?::uuid`,
      [...bindingsOf(keys), type.tenantId, type.id] as string[],
    );
  }

  /** Deletes all records of a type, and their count. */
  static async deleteAll(trx: Knex.Transaction, type: RecordType): Promise<void> {
    await GenericRecord.query(trx)
      .forTenant(type.tenantId)
      .where({ recordTypeId: type.id })
      .delete();
    await trx.raw('delete from record_count where tenant_id = ? and record_type_id = ?', [
      type.tenantId,
      type.id,
    ]);
  }

  /** How many records a type has, without counting them one by one. */
  static async countAll(db: Knex, type: RecordType): Promise<number> {
    const rows = await sqlRows<{ total: string }>(
      db,
      `select coalesce(sum(records), 0)::bigint as total from record_count
       where tenant_id = ? and record_type_id = ?`,
      [type.tenantId, type.id],
    );
    return Number(rows[0]?.total ?? 0);
  }
}
