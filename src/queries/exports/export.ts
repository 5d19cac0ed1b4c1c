import type { ParquetColumn, ParquetFile, ParquetWriter } from '../../messages/parquet.js';
import type { Scope } from '../../kernel/scope.js';
import { cursorColumn, type ColumnType, type ExportColumns } from '../../schemas/exports/column.js';
import {
  exportColumns,
  exportTypes,
  type ExportFormat,
  type ExportKind,
} from '../../schemas/exports/export.js';
import type { StreamedAnswer } from '../../schemas/http/operation.js';
import { readHalfOpenRange } from '../lists/time-range.js';
import { audit } from './audit-source.js';
import { journal, walletEntries } from './balance-sources.js';
import { invoiceItems, invoices, payments } from './billing-sources.js';
import {
  listDroppedMonths,
  refuseCorrected,
  monthsOfDays,
  monthsOfTimes,
  refuseArchived,
} from '../../models/usage/finding/dropped-month.js';
import { cursorSeparator, exportLine } from './export-line.js';
import {
  readExportPages,
  type ExportChoice,
  type ExportPage,
  type InTurn,
} from './export-pages.js';
import type { ExportSource } from './export-source.js';
import { focus } from './focus-source.js';
import { corrections, ratedTransactions, usageEvents } from './usage-sources.js';

const sources: Readonly<Record<ExportKind, ExportSource>> = {
  'usage-events': usageEvents,
  'rated-transactions': ratedTransactions,
  invoices,
  'invoice-items': invoiceItems,
  payments,
  'wallet-entries': walletEntries,
  journal,
  corrections,
  audit,
  focus,
};

/** What is asked for, as the operation has it. */
export interface ExportRequest {
  readonly kind: ExportKind;
  readonly format: ExportFormat;
  readonly from?: string;
  readonly to?: string;
  readonly accountId?: string;
  readonly after?: string;
}

interface Means {
  readonly parquet: ParquetWriter;
  readonly inTurn: InTurn;
}

const allColumns = (columns: ExportColumns): ExportColumns => ({
  cursor: cursorColumn,
  ...columns,
});

/** Decimals have more digits than any type of Parquet: they are text (docs/decisions/0317). */
const parquetType: Readonly<Record<ColumnType, ParquetColumn['type']>> = {
  uuid: 'text',
  text: 'text',
  name: 'text',
  date: 'date',
  instant: 'instant',
  decimal: 'text',
  integer: 'integer',
  boolean: 'boolean',
  json: 'text',
};

/** Maximum rows of a row group, and the bytes at which it is written earlier. */
const groupRows = 50_000;
const groupBytes = 32 * 1024 * 1024;

async function* parquetParts(
  pages: AsyncGenerator<ExportPage, void>,
  file: ParquetFile,
): AsyncGenerator<Uint8Array, void> {
  let texts: string[] = [];
  let rows = 0;
  let bytes = 0;
  for await (const page of pages) {
    texts.push(page.text);
    rows += page.rows;
    bytes += page.text.length;
    if (rows < groupRows && bytes < groupBytes) continue;
    yield await file.rowGroup(texts.join(''));
    [texts, rows, bytes] = [[], 0, 0];
  }
  if (rows > 0) yield await file.rowGroup(texts.join(''));
  yield file.footer();
}

/** The last line; `fault` where the export broke off. */
type LastLine = (rows: number, fault?: { code: string; message: string }) => string;

const lastLines: Readonly<Record<'ndjson' | 'csv', LastLine>> = {
  ndjson: (rows, error) => `${JSON.stringify({ end: error === undefined, rows, error })}\n`,
  csv: (rows, fault) =>
    fault === undefined
      ? `# end, rows: ${rows}\r\n`
      : `# broke off, rows: ${rows}: ${fault.code}: ${fault.message.replaceAll(/\s+/g, ' ')}\r\n`,
};

/** Kinds that are read from rows which may leave the database for the archive. */
const archivedKinds: readonly ExportKind[] = [
  'usage-events',
  'rated-transactions',
  'focus',
  'corrections',
];

/** 409: rows of the range are in the archive alone. */
async function refuseArchivedRange(
  { db, tenantId }: Scope,
  kind: ExportKind,
  { range: { from, to }, after }: ExportChoice,
): Promise<void> {
  const months = await listDroppedMonths(db.read, tenantId);
  if (kind === 'corrections') return refuseCorrected(db.read, tenantId, months, { from, to });
  const [reached] = (after ?? '').split(cursorSeparator);
  const start = reached !== undefined && reached > (from ?? '') ? reached : from;
  const times = { from: start ?? null, to: to ?? null };
  const days = { from: start?.slice(0, 10), last: to?.slice(0, 10) };
  refuseArchived(
    kind === 'usage-events' ? monthsOfTimes(months, times) : monthsOfDays(months, days),
  );
}

/** The pages; asked again at their end, so that none is missing of a month that was dropped meanwhile. */
async function* whileInDatabase(
  scope: Scope,
  kind: ExportKind,
  choice: ExportChoice,
  open: () => AsyncGenerator<ExportPage, void>,
): AsyncGenerator<ExportPage, void> {
  const pages = open();
  if (!archivedKinds.includes(kind)) return yield* pages;
  // The first page is read first: it refuses a cursor that is none.
  let next = await pages.next();
  await refuseArchivedRange(scope, kind, choice);
  for (; next.done !== true; next = await pages.next()) yield next.value;
  await refuseArchivedRange(scope, kind, choice);
}

/**
 * The chunks of an export. Errors of the request are thrown with the first one: 400 if `from` is
 * after `to`, or `after` is no cursor of this kind.
 */
export function openExport(
  scope: Scope,
  { kind, format, from, to, accountId, after }: ExportRequest,
  { parquet, inTurn }: Means,
): StreamedAnswer {
  const columns = exportColumns[kind];
  const source = sources[kind];
  const choice = { range: readHalfOpenRange({ from, to }), accountId, after };
  const line = exportLine(format, columns, source);
  const pages = whileInDatabase(scope, kind, choice, () =>
    readExportPages(scope, source, line, choice, inTurn),
  );
  const answer = { contentType: exportTypes[format], fileName: `${kind}.${format}` };
  if (format === 'parquet') {
    const file = parquet.open(
      Object.entries(allColumns(columns)).map(([name, { type, isNullable }]) => ({
        name,
        type: parquetType[type],
        isNullable,
      })),
    );
    return { ...answer, parts: parquetParts(pages, file), breakOff: () => null };
  }
  let rows = 0;
  const parts = async function* (): AsyncGenerator<string, void> {
    const first = await pages.next();
    if (format === 'csv') yield `${Object.keys(allColumns(columns)).join(',')}\r\n`;
    for (let next = first; next.done !== true; next = await pages.next()) {
      rows += next.value.rows;
      yield next.value.text;
    }
    yield lastLines[format](rows);
  };
  return { ...answer, parts: parts(), breakOff: (fault) => lastLines[format](rows, fault) };
}
