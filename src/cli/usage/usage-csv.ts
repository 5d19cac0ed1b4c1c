import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parse } from 'csv-parse/sync';

/** A row by its columns, or the error of a row. */
export type CsvRow =
  | { readonly line: number; readonly cells: Readonly<Record<string, string>> }
  | { readonly line: number; readonly fault: string };

/** What separates cells: German and French spreadsheets write semicolons. */
const delimiters = [',', ';', '\t'] as const;

/** The header is read with one call; a longer line is not a header. */
const headerBytesMax = 65_536;

const columnsRequired = ['externalTransactionId', 'eventTimestamp', 'billingAccountRef'] as const;

interface Header {
  readonly columns: readonly string[];
  readonly delimiter: string;
}

/** Reads the header, with the delimiter that results in the most columns. */
async function readHeader(path: string): Promise<Header> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytesMax), 0, headerBytesMax);
    const text = buffer.toString('utf8', 0, bytesRead);
    const readings = delimiters.map((delimiter): Header => {
      const rows: string[][] = parse(text, {
        delimiter,
        bom: true,
        trim: true,
        to: 1,
        relax_column_count: true,
        relax_quotes: true,
      });
      return { columns: rows[0] ?? [], delimiter };
    });
    return readings.reduce((best, one) => (one.columns.length > best.columns.length ? one : best));
  } finally {
    await file.close();
  }
}

/** Refuses a file whose columns cannot make events, before any of it is sent. */
function checkHeader(columns: readonly string[], hasService: boolean): void {
  const required = [...columnsRequired, ...(hasService ? [] : ['serviceId'])];
  const missing: string[] = required.filter((name) => !columns.includes(name));
  if (!columns.some(isDimension)) missing.push('a dimension, such as dimensions.api_calls');
  if (missing.length > 0) {
    throw new Error(
      `The header lacks ${missing.join(', ')}; it has ${columns.join(', ') || 'no columns'}. ` +
        `Required are ${columnsRequired.join(', ')}, serviceId (or --service) and dimensions.NAME.`,
    );
  }
  const repeated = columns.find((name, index) => columns.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`The header has the column '${repeated}' twice.`);
}

const isDimension = (name: string): boolean => /^dimensions\../.test(name);

/** The columns of a file that no event has, such as a misspelt one. */
function unknownColumns(columns: readonly string[]): readonly string[] {
  const known = [
    ...columnsRequired,
    'serviceId',
    'serviceInstanceId',
    'quantity',
    'priceUnitLabel',
    'key',
    'morgId',
  ];
  return columns.filter((name) => !known.includes(name) && !isDimension(name));
}

interface CsvOptions {
  /** Whether events get a service that the file does not name. */
  readonly hasService: boolean;
  readonly onNotice: (notice: string) => void;
}

/**
 * The rows of a CSV file in order; one that cannot be parsed is reported and skipped. A row is a
 * line: no property of an event contains line breaks, and an unclosed quote affects its own line
 * only.
 */
export async function* readCsvRows(
  path: string,
  { hasService, onNotice }: CsvOptions,
): AsyncGenerator<CsvRow> {
  const { columns, delimiter } = await readHeader(path);
  checkHeader(columns, hasService);
  const unknown = unknownColumns(columns).map((name) => `'${name}'`);
  if (unknown.length > 0) {
    onNotice(`columns that no event has, and that are ignored: ${unknown.join(', ')}`);
  }
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (line > 1 && text.trim() !== '') yield { line, ...readRow(text, { columns, delimiter }) };
  }
}

function readRow(
  text: string,
  { columns, delimiter }: Header,
): { cells: Readonly<Record<string, string>> } | { fault: string } {
  let record: readonly string[];
  try {
    const rows: string[][] = parse(text, { delimiter, trim: true });
    record = rows[0] ?? [];
  } catch (error) {
    return {
      fault: error instanceof Error ? error.message.replace(/ at line 1\b/, '') : 'is no CSV',
    };
  }
  if (record.length !== columns.length) {
    const cells = `${record.length} ${record.length === 1 ? 'cell' : 'cells'}`;
    return { fault: `has ${cells}, the header has ${columns.length}` };
  }
  const cells = columns.map((name, index): [string, string] => [name, record[index] ?? '']);
  return { cells: Object.fromEntries(cells) };
}
