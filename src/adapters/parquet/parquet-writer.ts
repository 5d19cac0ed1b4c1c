import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ByteWriter, ParquetWriter as Footer } from 'hyparquet-writer';
import { Piscina } from 'piscina';
import type { ParquetColumn, ParquetFile, ParquetWriter } from '../../messages/parquet.js';
import {
  parquetSchema,
  type EncodedRowGroup,
  type RowGroup,
  type RowGroupTask,
} from './row-group.js';

const extension = fileURLToPath(import.meta.url).slice(-3);
const script = new URL(`./row-group${extension}`, import.meta.url).href;
const idleMs = 10_000;
const threadsMax = 2;

/** `PAR1`, with which a file begins and ends. */
const magic = Buffer.from('PAR1');

/** A row group as it is behind so many bytes of the file. */
const moved = (group: RowGroup, offset: bigint): RowGroup => ({
  ...group,
  columns: group.columns.map(({ meta_data: meta, ...column }) => ({
    ...column,
    file_offset: column.file_offset + offset,
    ...(meta === undefined
      ? {}
      : {
          meta_data: {
            ...meta,
            data_page_offset: meta.data_page_offset + offset,
            ...(meta.dictionary_page_offset === undefined
              ? {}
              : { dictionary_page_offset: meta.dictionary_page_offset + offset }),
          },
        }),
  })),
});

class StreamedFile implements ParquetFile {
  readonly #columns: readonly ParquetColumn[];
  readonly #encode: (task: RowGroupTask) => Promise<EncodedRowGroup>;
  readonly #groups: RowGroup[] = [];
  #length = 0;

  constructor(
    columns: readonly ParquetColumn[],
    encode: (task: RowGroupTask) => Promise<EncodedRowGroup>,
  ) {
    this.#columns = columns;
    this.#encode = encode;
  }

  async rowGroup(lines: string): Promise<Uint8Array> {
    const { bytes, group } = await this.#encode({ columns: this.#columns, lines });
    const begin = this.#length === 0 ? magic : Buffer.alloc(0);
    // In its thread the group was behind the four bytes with which a file begins.
    this.#groups.push(moved(group, BigInt(this.#length + begin.length - magic.length)));
    this.#length += begin.length + bytes.length;
    return begin.length === 0 ? bytes : Buffer.concat([begin, bytes]);
  }

  footer(): Uint8Array {
    const writer = new ByteWriter();
    const file = new Footer({
      writer,
      schema: parquetSchema(this.#columns),
      createdBy: 'durabill',
    });
    file.row_groups = this.#groups;
    file.num_rows = this.#groups.reduce((sum, { num_rows: rows }) => sum + rows, 0n);
    void file.finish();
    // It begins like a file; here that was sent before, unless there was no row.
    return writer.getBytes().slice(this.#length === 0 ? 0 : magic.length);
  }
}

/** Row groups are encoded by threads: one of 50,000 rows takes some tenths of a second. */
export function openParquetWriter(): ParquetWriter {
  let pool: Piscina<RowGroupTask, EncodedRowGroup> | undefined;
  const encode = (task: RowGroupTask): Promise<EncodedRowGroup> => {
    pool ??= new Piscina({
      filename: script,
      idleTimeout: idleMs,
      minThreads: 0,
      maxThreads: Math.max(1, Math.min(threadsMax, availableParallelism() - 1)),
    });
    // A thread that fails with nothing to do is replaced; of one that encodes, its caller is told.
    if (pool.listenerCount('error') === 0) pool.on('error', () => undefined);
    return pool.run(task);
  };
  return {
    open: (columns) => new StreamedFile(columns, encode),
    async close() {
      await pool?.close();
    },
  };
}
