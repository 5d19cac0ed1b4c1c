import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { exportColumns, type ExportKind } from '../../schemas/exports/export.js';
import { ExportScanner } from './export-scanner.js';

/** Scans the output of an interrupted run. */
export async function scanFile(path: string, format: 'ndjson' | 'csv'): Promise<ExportScanner> {
  const scanner = new ExportScanner(format);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) scanner.feed(chunk);
  return scanner;
}

async function firstLine(path: string): Promise<string> {
  for await (const line of createInterface(createReadStream(path))) return line;
  return '';
}

/** Error: the rows of a file, of which it has at least the header, are of another kind. */
export async function requireKind(
  path: string,
  kind: string,
  format: 'ndjson' | 'csv',
): Promise<void> {
  // The API refuses a kind that there is not.
  if (!Object.hasOwn(exportColumns, kind)) return;
  const line = await firstLine(path);
  const isRow = format === 'ndjson' && line.startsWith('{');
  const found = isRow ? Object.keys(JSON.parse(line) as object).join(',') : line;
  if (found === ['cursor', ...Object.keys(exportColumns[kind as ExportKind])].join(',')) return;
  throw new Error(
    `'${path}' has other columns than an export of ${kind}: name the kind that it began with, or write another file.`,
  );
}

/**
 * Makes the last line of a file that went on tell all its rows: what came last tells its own.
 */
export async function tellAllRows(
  path: string,
  before: ExportScanner,
  rest: ExportScanner,
): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const line = rest.last.replace(/\d+/, String(before.rows + rest.rows));
    await file.truncate(before.rowsEnd + rest.rowsEnd);
    await file.write(line, before.rowsEnd + rest.rowsEnd);
  } finally {
    await file.close();
  }
}
