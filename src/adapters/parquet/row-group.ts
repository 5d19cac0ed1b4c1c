/** Encodes a row group of a Parquet file; runs in a thread of its own (`parquet-writer.ts`). */
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { ParquetColumn } from '../../messages/parquet.js';

/** Where the columns of some rows are in a file. */
export type RowGroup = ParquetWriter['row_groups'][number];

export interface RowGroupTask {
  readonly columns: readonly ParquetColumn[];
  readonly lines: string;
}

export interface EncodedRowGroup {
  readonly bytes: Uint8Array;
  /** Where its columns are, as if the file began with it. */
  readonly group: RowGroup;
}

const schemaTypes: Readonly<Record<ParquetColumn['type'], Partial<SchemaElement>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
};

/** The schema of a file with these columns. */
export const parquetSchema = (columns: readonly ParquetColumn[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(({ name, type, isNullable }) => ({
    name,
    repetition_type: isNullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
    ...schemaTypes[type],
  })),
];

const dayMs = 86_400_000;

/** Microseconds since 1970; a `Date` has none. */
function microsOf(instant: string): bigint {
  const micros = BigInt(instant.slice(20, 26));
  return BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * 1_000n + micros;
}

const readers: Readonly<Record<ParquetColumn['type'], (value: never) => unknown>> = {
  text: (value: string) => value,
  date: (value: string) => Date.parse(`${value}T00:00:00Z`) / dayMs,
  instant: microsOf,
  integer: (value: number) => BigInt(value),
  boolean: (value: boolean) => value,
};

export default function encodeRowGroup({ columns, lines }: RowGroupTask): EncodedRowGroup {
  const rows = JSON.parse(`[${lines.trimEnd().replaceAll('\n', ',')}]`) as unknown[][];
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: parquetSchema(columns) });
  // What the file begins with is no part of the group.
  const begin = writer.index;
  const columnData = columns.map(({ name, type }, index) => {
    const read = readers[type] as (value: unknown) => unknown;
    return {
      name,
      data: rows.map((row) => (row[index] === null ? null : read(row[index]))),
      offsetIndex: false,
      // Of text the smallest and the largest would be kept until the file ends, however long they are.
      statistics: type !== 'text',
    };
  });
  void parquet.write({ columnData, rowGroupSize: rows.length });
  const [group] = parquet.row_groups;
  if (group === undefined) throw new Error('A row group has no rows.');
  return { bytes: writer.getBytes().slice(begin), group };
}
