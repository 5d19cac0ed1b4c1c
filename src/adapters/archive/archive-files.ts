import { fileURLToPath } from 'node:url';
import { webcrypto } from 'node:crypto';
import { Piscina } from 'piscina';
import { problem } from '../../kernel/problem.js';
import type {
  ArchiveFile,
  ArchiveFiles,
  ArchiveStore,
  HavingValues,
} from '../../messages/ageing/usage-archive.js';
import type { ParquetColumn, ParquetWriter } from '../../messages/parquet.js';
import type { FoundRows, RowsTask } from './archive-rows.js';

const extension = fileURLToPath(import.meta.url).slice(-3);
const script = new URL(`./archive-rows${extension}`, import.meta.url).href;
const idleMs = 10_000;

const sha256 = async (bytes: Uint8Array): Promise<string> =>
  Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');

async function encode(
  parquet: ParquetWriter,
  columns: readonly ParquetColumn[],
  lines: string,
): Promise<Uint8Array> {
  const file = parquet.open(columns);
  const group = await file.rowGroup(lines);
  return Buffer.concat([group, file.footer()]);
}

/** How a file differs from what it was when it was entered; null: not at all. */
function changeOf(known: ArchiveFile, found: FoundRows): string | null {
  if (found.fileSha256 !== known.fileSha256) return `${known.file} was changed`;
  const isSame = found.rowsSha256 === known.rowsSha256 && found.rows === known.rows;
  return isSame ? null : `${known.file} has other rows`;
}

/** Files are encoded and read by threads: one of 50,000 rows takes some tenths of a second. */
export function openArchiveFiles(store: ArchiveStore, parquet: ParquetWriter): ArchiveFiles {
  let pool: Piscina<RowsTask, FoundRows> | undefined;
  const readRows = (task: RowsTask): Promise<FoundRows> => {
    pool ??= new Piscina({ filename: script, idleTimeout: idleMs, minThreads: 0, maxThreads: 1 });
    // A thread that fails with nothing to do is replaced; of one that reads, its caller is told.
    if (pool.listenerCount('error') === 0) pool.on('error', () => undefined);
    return pool.run(task);
  };

  /** What is in a file, and what is wrong with it. */
  const look = async (
    { file, columns }: Pick<ArchiveFile, 'file' | 'columns'>,
    lines: string | undefined,
    wanted?: 'all' | HavingValues,
  ): Promise<FoundRows | string> => {
    const bytes = await store.read(file);
    if (bytes === undefined) return `there is no file ${file}`;
    try {
      return await readRows({ bytes, columns, lines, wanted });
    } catch (error) {
      return `${file} cannot be read as Parquet: ${error instanceof Error ? error.message : String(error)}`;
    }
  };

  return {
    address: store.address,
    async write(folder, columns, lines) {
      const bytes = await encode(parquet, columns, lines);
      const fileSha256 = await sha256(bytes);
      // Named by its content: what is written again after a crash is the same file.
      const file = `${folder}/${fileSha256.slice(0, 32)}.parquet`;
      await store.write(file, bytes);
      const found = await look({ file, columns }, lines);
      const fault = typeof found === 'string' ? found : found.difference;
      if (typeof found === 'string' || fault !== null || found.fileSha256 !== fileSha256) {
        throw new Error(
          `The archive does not keep what it is given: ${fault ?? `${file} has other bytes`}.`,
        );
      }
      const { rows, rowsSha256 } = found;
      return { file, bytes: bytes.length, fileSha256, rowsSha256, rows, columns };
    },
    async findFault(known, lines) {
      const found = await look(known, lines);
      if (typeof found === 'string') return found;
      const change = changeOf(known, found);
      if (change !== null) return change;
      return found.difference === null ? null : `${known.file}: ${found.difference}`;
    },
    async readRows(known, having) {
      const found = await look(known, undefined, having ?? 'all');
      const fault = typeof found === 'string' ? found : changeOf(known, found);
      if (typeof found === 'string' || fault !== null) {
        throw problem.conflict(`The archive cannot be read: ${fault ?? ''}.`);
      }
      return found.found;
    },
    async close() {
      await pool?.close();
    },
  };
}
