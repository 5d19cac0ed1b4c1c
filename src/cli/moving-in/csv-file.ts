import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { throwFault } from './faults.js';

interface ReadRow {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number; readonly error?: CsvError };
}

/** A row under the header of a file. */
export interface CsvRow {
  /** The file and the line, for whoever has to mend it. */
  readonly place: string;
  /** A cell by its column; an empty one where there is no such column. */
  readonly cell: (column: string) => string;
}

/** A longer row is a quote that nobody has closed. */
const rowBytesMax = 1_048_576;

/** The text of a file. Throws where it is missing or no UTF-8, with a BOM or without. */
async function* readText(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer): string => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw new Error(`${basename(path)} is no UTF-8 text: save it as UTF-8.`);
    }
  };
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) yield decode(bytes);
  yield decode();
}

/** Why a file cannot be read, with its name. */
export function unreadable(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new Error(`There is no file '${path}'.`);
  return code === 'EISDIR' ? new Error(`'${path}' is a folder, not a file.`) : error;
}

/** The header as it is. Throws where it lacks a column or has one twice. */
function checkHeader(file: string, header: readonly string[], required: readonly string[]): void {
  const missing = required.filter((name) => !header.includes(name));
  if (missing.length > 0) {
    throw new Error(
      `${file} lacks the columns ${missing.join(', ')}; its first line has ${header.join(', ')}.`,
    );
  }
  const repeated = header.find((name, index) => name !== '' && header.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`${file} has the column '${repeated}' twice.`);
}

/**
 * The rows of a CSV file with a header, one after the other: a file may be larger than the memory. Takes
 * faults of its form, and leaves such rows out.
 */
export async function* readCsvRows(
  path: string,
  required: readonly string[],
  takeFault = throwFault,
): AsyncGenerator<CsvRow> {
  const file = basename(path);
  let hasHeader = false;
  const rows = parse({
    bom: true,
    trim: true,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    // Spreadsheets leave such lines at the end.
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: rowBytesMax,
    relax_column_count: true,
    columns: (header: string[]) => {
      checkHeader(file, header, required);
      hasHeader = true;
      return header;
    },
  });
  try {
    const read = Readable.from(readText(path)).compose(rows) as AsyncIterable<ReadRow>;
    for await (const { record, info } of read) {
      if (info.error) takeFault(file, info.error.message);
      else yield { place: `${file}, line ${info.lines}`, cell: (column) => record[column] ?? '' };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw unreadable(path, error);
    takeFault(file, error.message);
  }
  if (!hasHeader) {
    throw new Error(`${file} is empty: its first line names the columns ${required.join(', ')}.`);
  }
}
