import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseJson, stringifyJson } from '../../api/server/unstorable-text.js';
import { defined } from '../../kernel/defined.js';
import { parseDecimal } from '../../kernel/numbers/money.js';
import { readCsvRows } from './usage-csv.js';

/** A line of the file: the JSON of an ingestion body, or why it is none. */
export type UsageLine =
  | { readonly line: number; readonly body: string }
  | { readonly line: number; readonly fault: string };

/** Filled into events that leave these out. */
export interface UsageDefaults {
  readonly serviceId?: string;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An ingestion body: the value itself when it has a `message`, else one around it. */
function bodyOf(value: Json, defaults: UsageDefaults): string {
  const body = isObject(value['message']) ? value : { message: value };
  const message: Json = { ...defaults, ...(body['message'] as Json) };
  const key = body['key'] ?? message['externalTransactionId'];
  return stringifyJson({ ...body, ...defined({ key }), message });
}

async function* readNdjson(path: string, defaults: UsageDefaults): AsyncGenerator<UsageLine> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === '') continue;
    yield readNdjsonLine(text, line, defaults);
  }
}

function readNdjsonLine(text: string, line: number, defaults: UsageDefaults): UsageLine {
  try {
    const value = parseJson(text);
    return isObject(value)
      ? { line, body: bodyOf(value, defaults) }
      : { line, fault: 'is no JSON object' };
  } catch (error) {
    return { line, fault: error instanceof Error ? error.message : 'is not valid JSON' };
  }
}

const dimensionPrefix = 'dimensions.';

/** The message of a CSV row: empty cells are left out, `dimensions.<name>` columns are dimensions. */
function messageOf(row: Readonly<Record<string, string>>): Json {
  const message: Json = {};
  const dimensions: Record<string, string> = {};
  for (const [column, cell] of Object.entries(row)) {
    if (cell === '') continue;
    if (column.startsWith(dimensionPrefix)) dimensions[column.slice(dimensionPrefix.length)] = cell;
    // What is no number stays text, so that the event is rejected visibly, with its reason.
    else message[column] = column === 'quantity' ? (parseDecimal(cell) ?? cell) : cell;
  }
  return { ...message, dimensions };
}

async function* readCsv(
  path: string,
  defaults: UsageDefaults,
  onNotice: (notice: string) => void,
): AsyncGenerator<UsageLine> {
  const hasService = defaults.serviceId !== undefined;
  for await (const row of readCsvRows(path, { hasService, onNotice })) {
    if ('fault' in row) {
      yield row;
      continue;
    }
    const { key, ...columns } = row.cells;
    const message = messageOf(columns);
    yield { line: row.line, body: bodyOf({ message, ...(key ? { key } : {}) }, defaults) };
  }
}

/**
 * The events of a usage file, in order. NDJSON: each line an ingestion body or its `message`.
 * CSV (by the ending `.csv`): the columns are the members of `message`, `dimensions.<name>` for each
 * dimension, and optionally `key`. `onNotice` hears what is odd about the file as a whole.
 */
export function readUsageFile(
  path: string,
  defaults: UsageDefaults,
  onNotice: (notice: string) => void,
): AsyncGenerator<UsageLine> {
  const isCsv = path.toLowerCase().endsWith('.csv');
  return isCsv ? readCsv(path, defaults, onNotice) : readNdjson(path, defaults);
}
