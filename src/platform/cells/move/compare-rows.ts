import type pg from 'pg';
import { tableSql, type MovedTable } from './moved-tables.js';

/** Rows of a table that differ between two databases. */
export interface RowDifference {
  readonly table: string;
  readonly source: string;
  readonly target: string;
}

/** Which rows are compared: those whose ids are above a bound or not, or all. */
export interface CompareRange {
  readonly tenantId: string;
  /** An id that grows with time; tables without such ids have no bound. */
  readonly bound: string;
  readonly side: 'old' | 'new';
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
  { tenantId, bound, side }: CompareRange,
): Promise<string> {
  const range = table.hasTimedIds ? `and id ${side === 'old' ? '<=' : '>'} $2::uuid` : '';
  const { rows } = await client.query<{ count: string; sum: string }>(
    `select count(*)::text as count,
       coalesce(sum(hashtextextended(row_text::text, 0)::numeric), 0)::text as sum
     from ${tableSql(table)} as row_text where tenant_id = $1 ${range}`,
    table.hasTimedIds ? [tenantId, bound] : [tenantId],
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
    // What has no such ids is compared with the new rows.
    if (range.side === 'old' && !table.hasTimedIds) continue;
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

/** The rows of source and target differ: the move does not go on. */
export class RowsDifferError extends Error {
  constructor(differences: readonly RowDifference[]) {
    const shown = differences.map(
      ({ table, source, target }) => `${table} has ${source} here and ${target} there`,
    );
    super(`The copy is not what it is made from: ${shown.join('; ')}.`);
    this.name = 'RowsDifferError';
  }
}
