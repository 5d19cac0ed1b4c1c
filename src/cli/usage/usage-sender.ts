import { setTimeout as wait } from 'node:timers/promises';
import { readUsageFile, type UsageDefaults, type UsageLine } from './usage-file.js';

/** The progress of sending a file. */
export interface SendProgress {
  /** Lines of the file that need not be sent again. */
  line: number;
  accepted: number;
  refused: number;
}

/** The position of a line's event in the log. */
export interface SentPlace {
  readonly line: number;
  readonly partition: number;
  readonly offset: number;
}

export interface SendOptions {
  readonly apiUrl: string;
  readonly token: string;
  /** Lines up to this one were sent before. */
  readonly afterLine: number;
  readonly onProgress: (progress: SendProgress) => void | Promise<void>;
  readonly onFault: (line: number, fault: string) => void;
  readonly onWaiting: (reason: string) => void;
  readonly onSent?: (place: SentPlace) => void;
}

export interface SendFileOptions extends SendOptions {
  readonly path: string;
  readonly defaults: UsageDefaults;
  /** Called with warnings about the file as a whole. */
  readonly onNotice: (notice: string) => void;
}

/** Limits of one request (spec/gateway.md R10): 1,000 events and 1 MiB, with room to spare. */
const batchEventsMax = 1_000;
const batchBytesMax = 1_000_000;

interface Batch {
  readonly lines: { readonly line: number; readonly body: string }[];
  bytes: number;
}

const newBatch = (): Batch => ({ lines: [], bytes: 2 });

/** How long to wait before each further try; the sum is about a minute. */
const retryDelaysMs = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 20_000];
const isPassing = (status: number): boolean => status === 429 || status >= 500;

async function postOnce(options: SendOptions, body: string): Promise<Response | string> {
  try {
    return await fetch(`${options.apiUrl}/v1/ingest/usage/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' },
      body,
    });
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return `the API does not answer (${cause?.code ?? String(error)})`;
  }
}

/** Sends a batch until it is accepted; a retry is safe, because duplicates are recognized. */
async function post(options: SendOptions, batch: Batch): Promise<unknown[]> {
  const body = `[${batch.lines.map((line) => line.body).join(',')}]`;
  let reason = '';
  for (const delay of [...retryDelaysMs, 0]) {
    const answer = await postOnce(options, body);
    if (typeof answer !== 'string' && answer.ok) return (await answer.json()) as unknown[];
    reason = typeof answer === 'string' ? answer : `${answer.status}: ${await answer.text()}`;
    if (typeof answer !== 'string' && !isPassing(answer.status)) break;
    if (delay > 0) {
      options.onWaiting(reason);
      await wait(delay);
    }
  }
  throw new Error(`Sending failed: ${reason.slice(0, 500)}`);
}

interface BatchItem {
  readonly status?: string;
  readonly partition?: number;
  readonly offset?: number;
  readonly error?: { readonly message: string };
}

/** Sends the events of a file in order, batch by batch; returns how it went. */
export const sendUsageFile = (options: SendFileOptions): Promise<SendProgress> =>
  sendUsage(options, readUsageFile(options.path, options.defaults, options.onNotice));

/** Sends events in order, batch by batch; returns how it went. */
export async function sendUsage(
  options: SendOptions,
  lines: AsyncIterable<UsageLine> | Iterable<UsageLine>,
): Promise<SendProgress> {
  const progress: SendProgress = { line: options.afterLine, accepted: 0, refused: 0 };
  let batch = newBatch();
  const flush = async (): Promise<void> => {
    if (batch.lines.length === 0) return;
    const results = (await post(options, batch)) as BatchItem[];
    batch.lines.forEach(({ line }, index) => {
      progress.line = line;
      const { status, partition = 0, offset = 0, error } = results[index] ?? {};
      if (status === 'published') {
        progress.accepted += 1;
        options.onSent?.({ line, partition, offset });
      } else {
        refuse(line, error?.message ?? 'was not accepted');
      }
    });
    batch = newBatch();
    await options.onProgress(progress);
  };
  const refuse = (line: number, fault: string): void => {
    progress.refused += 1;
    options.onFault(line, fault);
  };
  for await (const line of lines) {
    if (line.line <= options.afterLine) continue;
    if ('fault' in line) {
      refuse(line.line, line.fault);
      continue;
    }
    const bytes = Buffer.byteLength(line.body) + 1;
    if (bytes > batchBytesMax) {
      refuse(line.line, `is larger than ${batchBytesMax} bytes`);
      continue;
    }
    const isFull = batch.lines.length === batchEventsMax || batch.bytes + bytes > batchBytesMax;
    if (isFull) await flush();
    batch.lines.push(line);
    batch.bytes += bytes;
  }
  await flush();
  return progress;
}
