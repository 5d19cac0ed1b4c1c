import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/**
 * What a copy of a tenant has beside its usage, in the order of references. Shares of accounts follow
 * from the lines by trigger.
 */
export const copiedTables = [
  'account',
  'service',
  'contract',
  'contract_service',
  'address',
  'attribute',
  'pricing_logic',
  'rate_card',
  'rate_card_row',
  'service_layout',
  'tax_rate',
  'adjustment',
] as const;
export type CopiedTable = (typeof copiedTables)[number];

/** A column, and whether it holds ids (alone or in a list), JSON, or something else. */
export interface CopiedColumn {
  readonly name: string;
  readonly type: string;
}

/** The columns of a table that are written: not those that PostgreSQL computes. */
export async function readColumns(db: Knex, table: CopiedTable): Promise<CopiedColumn[]> {
  return sqlRows<CopiedColumn>(
    db,
    `select column_name as name, udt_name as type from information_schema.columns
     where table_schema = 'public' and table_name = ? and is_generated = 'NEVER'
     order by ordinal_position`,
    [table],
  );
}

/** The ids of a tenant's rows, deleted ones too: charges may be of them. */
export async function readIds(db: Knex, table: CopiedTable, tenantId: string): Promise<string[]> {
  const rows = await sqlRows<{ id: string }>(
    db,
    `select id from ${table} where tenant_id = ? order by id`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
}

/** Rows as JSON texts, whose numbers keep all their digits. */
export async function readRows(
  db: Knex,
  table: CopiedTable,
  tenantId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sqlRows<{ row: string }>(
    db,
    `select to_jsonb(${table})::text as row from ${table}
     where tenant_id = ? and id = any(?::uuid[]) order by id`,
    [tenantId, [...ids]],
  );
  return rows.map(({ row }) => row);
}

/** Inserts rows that are JSON objects of these columns; `rows` is the text of their list. */
export async function insertRows(
  trx: Knex,
  table: CopiedTable,
  columns: readonly CopiedColumn[],
  rows: string,
): Promise<void> {
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  await sqlRows(
    trx,
    `insert into ${table} (${names})
     select ${names} from jsonb_populate_recordset(null::${table}, ?::jsonb)`,
    [rows],
  );
}

/** A counter whose period holds a day as another than its first. */
export interface CutCounter {
  readonly attributeName: string;
  readonly period: string;
  readonly periodStart: string;
}

/** A counter of a tenant that usage from a day on would find in the middle of its period. */
export async function findCutCounter(
  db: Knex,
  tenantId: string,
  day: string,
): Promise<CutCounter | undefined> {
  const rows = await sqlRows<CutCounter>(
    db,
    `select attribute_name as "attributeName", period, period_start::text as "periodStart"
     from usage_counter
     where tenant_id = :tenantId and period_start < :day::date and period_end > :day::date
     order by period_start, id limit 1`,
    { tenantId, day },
  );
  return rows[0];
}
