import type pg from 'pg';
import { tableSql, type MovedTable } from './moved-tables.js';

/** Rows of a table that differ between two databases. */
export interface RowDifference {
  readonly table: string;
  readonly source: string;
  readonly target: string;
}

/**
 * Which rows are compared: those that have come after a moment, up to one, or both, each an id that begins
 * with it. What of a table changes or is not told apart (`MovedTable`) is compared where there is no end.
 */
export interface CompareRange {
  readonly tenantId: string;
  readonly after?: string;
  readonly upTo?: string;
}

/** Settings by which a row is the same text everywhere. */
const sameText = `set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres';
  set extra_float_digits = 1; set bytea_output = 'hex'`;

export async function prepareComparison(client: pg.Client): Promise<void> {
  await client.query(sameText);
}

/** How many rows there are, and the sum of their checksums, which no order changes. */
async function checksum(
  client: pg.Client,
  table: MovedTable,
  { tenantId, after, upTo }: CompareRange,
): Promise<string> {
  const { newRowSql } = table;
  const values = [tenantId];
  const isNew = (id: string): string => newRowSql?.(`$${values.push(id)}`) ?? 'true';
  const begin = after === undefined ? 'true' : isNew(after);
  const end = upTo === undefined ? 'true' : `not (${isNew(upTo)})`;
  const { rows } = await client.query<{ count: string; sum: string }>(
    `select count(*)::text as count,
       coalesce(sum(hashtextextended(row_text::text, 0)::numeric), 0)::text as sum
     from ${tableSql(table)} as row_text where tenant_id = $1 and ${begin} and ${end}`,
    values,
  );
  const { count = '0', sum = '0' } = rows[0] ?? {};
  return `${count} rows, checksum ${sum}`;
}

/** The tables whose rows differ; both databases are asked at once. */
export async function compareRows(
  source: pg.Client,
  target: pg.Client,
  tables: readonly MovedTable[],
  range: CompareRange,
): Promise<RowDifference[]> {
  const differences: RowDifference[] = [];
  for (const table of tables) {
    if (range.upTo !== undefined && table.newRowSql === null) continue;
    const [ofSource, ofTarget] = await Promise.all([
      checksum(source, table, range),
      checksum(target, table, range),
    ]);
    if (ofSource !== ofTarget) {
      differences.push({ table: table.name, source: ofSource, target: ofTarget });
    }
  }
  return differences;
}
