import { parseStoredJson, stringifyJson } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import {
  copiedTables,
  insertRows,
  readColumns,
  readIds,
  readRows,
  type CopiedColumn,
  type CopiedTable,
} from '../../models/sandbox/copied-rows.js';
import { CopiedIds } from './copied-ids.js';

/** Rows that are copied in one transaction. */
const rowsMax = 500;

/** A row as the copy has it: ids of its own, and every text as it was. */
function copiedRow(
  row: Record<string, unknown>,
  columns: readonly CopiedColumn[],
  ids: CopiedIds,
  tenantId: string,
): Record<string, unknown> {
  return Object.fromEntries(
    columns.map(({ name, type }) => {
      if (name === 'tenant_id') return [name, tenantId];
      const hasIds = ['uuid', '_uuid', 'json', 'jsonb'].includes(type);
      return [name, hasIds ? ids.inJson(row[name]) : row[name]];
    }),
  );
}

async function copyTable(
  from: Scope,
  to: Scope,
  table: CopiedTable,
  own: readonly string[],
  ids: CopiedIds,
): Promise<void> {
  const columns = await readColumns(to.db.read, table);
  for (let start = 0; start < own.length; start += rowsMax) {
    const page = own.slice(start, start + rowsMax);
    const rows = await readRows(from.db.read, table, from.tenantId, page);
    const copied = rows.map((text) =>
      copiedRow(parseStoredJson(text) as Record<string, unknown>, columns, ids, to.tenantId),
    );
    await to.db.transaction((trx) => insertRows(trx, table, columns, stringifyJson(copied)));
  }
}

/**
 * Copies accounts, catalog and contracts of a tenant into an empty one (docs/decisions/0383), and
 * returns which ids they have there.
 */
export async function copyRecords(
  from: Scope,
  to: Scope,
  onCopied: (table: string, rows: number) => void,
): Promise<CopiedIds> {
  const ids = new CopiedIds();
  const own = new Map<CopiedTable, readonly string[]>();
  for (const table of copiedTables) {
    const found = await readIds(from.db.read, table, from.tenantId);
    ids.add(found);
    own.set(table, found);
  }
  for (const table of copiedTables) {
    const found = own.get(table) ?? [];
    await copyTable(from, to, table, found, ids);
    onCopied(table, found.length);
  }
  return ids;
}
