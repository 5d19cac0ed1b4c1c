/** Reads the rows of a file of an archive; runs in a thread of its own (`archive-files.ts`). */
import { createHash } from 'node:crypto';
import { parquetRead } from 'hyparquet';
import type { HavingValues } from '../../messages/ageing/usage-archive.js';
import type { ParquetColumn } from '../../messages/parquet.js';

export interface RowsTask {
  readonly bytes: Uint8Array;
  readonly columns: readonly ParquetColumn[];
  /** The rows that it should have; undefined: they are not compared. */
  readonly lines: string | undefined;
  /** Which rows are asked for: all, or those with a value; undefined: none. */
  readonly wanted?: 'all' | HavingValues | undefined;
}

export interface FoundRows {
  readonly rows: number;
  readonly fileSha256: string;
  readonly rowsSha256: string;
  /** Where the rows differ from the given ones; null: nowhere. */
  readonly difference: string | null;
  /** The rows that were asked for. */
  readonly found: readonly string[];
}

const dayMs = 86_400_000;

/** As PostgreSQL writes it: `2026-10-01T00:00:00.123456`. */
function instantOf(micros: bigint): string {
  const second = micros / 1_000_000n - (micros % 1_000_000n < 0n ? 1n : 0n);
  const rest = String(micros - second * 1_000_000n).padStart(6, '0');
  return `${new Date(Number(second) * 1_000).toISOString().slice(0, 19)}.${rest}`;
}

const parsers = {
  timestampFromMicroseconds: instantOf,
  dateFromDays: (days: number): string => new Date(days * dayMs).toISOString().slice(0, 10),
};

function valueOf(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Each row as a line of JSON, whoever wrote the file. */
async function readLines({ bytes, columns }: RowsTask): Promise<string[]> {
  const lines: string[] = [];
  const { buffer, byteOffset, byteLength } = bytes;
  const file = {
    byteLength,
    slice: (start: number, end = byteLength): ArrayBuffer =>
      buffer.slice(byteOffset + start, byteOffset + end) as ArrayBuffer,
  };
  await parquetRead({
    file,
    columns: columns.map(({ name }) => name),
    parsers,
    onComplete: (rows: unknown[][]) => {
      for (const row of rows) lines.push(JSON.stringify(row.map(valueOf)));
    },
  });
  return lines;
}

const sameForm = (line: string): string => JSON.stringify(JSON.parse(line));

function findDifference(found: readonly string[], lines: string): string | null {
  const wanted = lines === '' ? [] : lines.split('\n').map(sameForm);
  if (found.length !== wanted.length) {
    return `it has ${found.length} rows where there are ${wanted.length}`;
  }
  const at = found.findIndex((line, index) => line !== wanted[index]);
  if (at === -1) return null;
  const [id] = JSON.parse(wanted[at] ?? '[]') as unknown[];
  return `row ${at + 1} differs from ${String(id)}`;
}

function chooseRows(lines: readonly string[], { columns, wanted }: RowsTask): readonly string[] {
  if (wanted === undefined) return [];
  if (wanted === 'all') return lines;
  const at = columns.findIndex(({ name }) => name === wanted.column);
  const values = new Set(wanted.values);
  return lines.filter((line) => values.has(String((JSON.parse(line) as unknown[])[at])));
}

export default async function readRows(task: RowsTask): Promise<FoundRows> {
  const lines = await readLines(task);
  return {
    rows: lines.length,
    fileSha256: createHash('sha256').update(task.bytes).digest('hex'),
    rowsSha256: createHash('sha256').update(lines.join('\n')).digest('hex'),
    difference: task.lines === undefined ? null : findDifference(lines, task.lines),
    found: chooseRows(lines, task),
  };
}
