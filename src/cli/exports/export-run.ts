import { open, stat, type FileHandle } from 'node:fs/promises';
import { once } from 'node:events';
import { readerToken, type TokenOptions } from '../access/reader-token.js';
import { instanceAddresses } from '../start/instance.js';
import { ExportScanner } from './export-scanner.js';
import { requireKind, scanFile, tellAllRows } from './resumed-file.js';

export interface ExportRunOptions extends TokenOptions {
  readonly format: 'ndjson' | 'csv' | 'parquet';
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly after?: string;
  readonly out?: string;
  readonly resume?: true;
  readonly url?: string;
}

const tellMs = 1_000;

/** The destination of the bytes: the file, or standard output. */
interface Target {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

const standardOutput: Target = {
  async write(bytes) {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  },
  close: () => Promise.resolve(),
};

const fileTarget = (file: FileHandle): Target => ({
  write: (bytes) => file.writeFile(bytes),
  close: () => file.close(),
});

/** Opens the file to resume, truncated after its last complete row, with the cursor of that row. */
async function openFile(kind: string, { out, resume, format }: ExportRunOptions) {
  if (out === undefined) {
    if (resume === true) throw new Error('--resume needs the file: --out FILE.');
    return { target: standardOutput, found: undefined };
  }
  if (resume !== true) return { target: fileTarget(await open(out, 'w')), found: undefined };
  if (format === 'parquet') throw new Error('A Parquet file cannot go on: export it again.');
  const file = await stat(out).catch(() => undefined);
  if (file === undefined) return { target: fileTarget(await open(out, 'w')), found: undefined };
  const found = await scanFile(out, format);
  if (found.rowsEnd > 0) await requireKind(out, kind, format);
  const handle = await open(out, 'a');
  if (!found.isWhole) await handle.truncate(found.rowsEnd);
  return { target: fileTarget(handle), found };
}

async function request(kind: string, options: ExportRunOptions, after: string | undefined) {
  const { format, from, to, account } = options;
  const apiUrl = options.url ?? (await instanceAddresses()).apiUrl;
  const asked = { format, from, to, accountId: account, after };
  const query = new URLSearchParams(
    Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const response = await fetch(`${apiUrl}/v1/exports/${encodeURIComponent(kind)}?${query}`, {
    headers: { authorization: `Bearer ${await readerToken(options)}` },
  });
  if (response.ok && response.body !== null) return response.body;
  const text = await response.text();
  let message = text.slice(0, 500);
  try {
    ({ message } = (JSON.parse(text) as { error: { message: string } }).error);
  } catch {
    // The error of a proxy before the API is not JSON in our form.
  }
  throw new Error(`${response.status}: ${message}`);
}

/** Without the header of CSV, which the file has already. */
async function* withoutHeader(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isBehind = false;
  for await (const chunk of body) {
    const end = isBehind ? -1 : chunk.indexOf(10);
    if (isBehind) yield chunk;
    else if (end >= 0) {
      isBehind = true;
      yield chunk.subarray(end + 1);
    }
  }
}

/** The state of an export: its progress, and whether it is complete. */
interface Received {
  readonly isWhole: boolean;
  readonly fault: string | undefined;
  /** What was received; undefined of Parquet. */
  readonly scanner: ExportScanner | undefined;
}

async function receive(
  body: AsyncIterable<Uint8Array>,
  format: ExportRunOptions['format'],
  target: Target,
): Promise<Received> {
  const scanner = format === 'parquet' ? undefined : new ExportScanner(format);
  const started = performance.now();
  let toldAt = started;
  let tail = Buffer.alloc(0);
  let fault: string | undefined;
  try {
    for await (const chunk of body) {
      scanner?.feed(chunk);
      tail = Buffer.concat([tail, chunk.subarray(-4)]).subarray(-4);
      await target.write(chunk);
      if (scanner === undefined || performance.now() - toldAt < tellMs) continue;
      toldAt = performance.now();
      const pace = Math.round(scanner.rows / ((toldAt - started) / 1000));
      process.stderr.write(`${scanner.rows} rows, ${pace} rows/s\n`);
    }
  } catch (error) {
    fault = `the connection broke off (${String((error as Error).cause ?? error)})`;
  }
  return {
    scanner,
    isWhole: scanner?.isWhole ?? (fault === undefined && tail.toString('latin1') === 'PAR1'),
    fault: scanner?.fault ?? fault,
  };
}

/** Writes the export; the exit code is 1 if it is not complete. */
export async function runExport(kind: string, options: ExportRunOptions): Promise<void> {
  const { format, after, out } = options;
  const { target, found } = await openFile(kind, options);
  try {
    if (found?.isWhole === true) {
      process.stderr.write(`'${out ?? ''}' has all ${found.rows} rows\n`);
      return;
    }
    const since = performance.now();
    const body = await request(kind, options, found?.cursor ?? after);
    const isGoingOn = found !== undefined && found.rowsEnd > 0;
    const rest = format === 'csv' && isGoingOn ? withoutHeader(body) : body;
    const { scanner, isWhole, fault } = await receive(rest, format, target);
    const seconds = (performance.now() - since) / 1000;
    const rows = scanner?.rows;
    const pace = rows === undefined ? '' : `${rows} rows, ${Math.round(rows / seconds)} rows/s, `;
    process.stderr.write(`${pace}${seconds.toFixed(1)} s\n`);
    if (isWhole) {
      if (scanner && isGoingOn && out !== undefined) await tellAllRows(out, found, scanner);
      return;
    }
    process.stderr.write(`the export is not whole: ${fault ?? 'its end is missing'}\n`);
    process.exitCode = 1;
  } finally {
    await target.close();
  }
}
