import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import cliProgress from 'cli-progress';
import { defined } from '../../kernel/defined.js';
import { readerToken } from '../access/reader-token.js';
import { instanceAddresses } from '../start/instance.js';
import { findOutcome, SentLines } from './usage-outcome.js';
import { sendUsageFile, type SendProgress } from './usage-sender.js';

export interface IngestRunOptions {
  readonly tenant?: string;
  readonly org?: string;
  readonly token?: string;
  readonly url?: string;
  readonly service?: string;
  readonly restart?: true;
}

/** Faults shown one by one; the rest are only counted. */
const faultsShownMax = 20;

/** Stores the position of an interrupted run beside the file, with a fingerprint of the file. */
class Bookmark {
  readonly #path: string;
  readonly #file: string;
  constructor(file: string, size: number, target: string) {
    this.#path = `${file}.progress`;
    this.#file = createHash('sha256').update(`${size} ${target}`).digest('hex');
  }
  async read(): Promise<number> {
    try {
      const saved = JSON.parse(await readFile(this.#path, 'utf8')) as {
        file: string;
        line: number;
      };
      return saved.file === this.#file ? saved.line : 0;
    } catch {
      return 0;
    }
  }
  write(line: number): Promise<void> {
    return writeFile(this.#path, JSON.stringify({ file: this.#file, line }));
  }
  remove(): Promise<void> {
    return rm(this.#path, { force: true });
  }
}

async function countLines(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const byte of chunk) if (byte === 10) lines += 1;
  }
  return lines;
}

function progressBar(total: number) {
  if (!process.stderr.isTTY) {
    return { update: () => undefined, stop: () => undefined };
  }
  const bar = new cliProgress.SingleBar({
    format: 'sending {bar} {percentage}% | {accepted} accepted | {eta_formatted} left',
    stream: process.stderr,
  });
  bar.start(total, 0, { accepted: 0 });
  return {
    update: ({ line, accepted }: SendProgress) => bar.update(line, { accepted }),
    stop: () => bar.stop(),
  };
}

interface Sent {
  readonly progress: SendProgress;
  readonly lines: SentLines;
  readonly seconds: number;
}

async function sendFile(path: string, target: Target, bookmark: Bookmark): Promise<Sent> {
  const afterLine = target.restart === true ? 0 : await bookmark.read();
  if (afterLine > 0) process.stderr.write(`going on after line ${afterLine}\n`);
  const bar = progressBar(await countLines(path));
  const lines = new SentLines();
  const tell = teller();
  const started = performance.now();
  try {
    const progress = await sendUsageFile({
      apiUrl: target.apiUrl,
      token: target.token,
      path,
      afterLine,
      defaults: target.service === undefined ? {} : { serviceId: target.service },
      onProgress: async (sent) => {
        bar.update(sent);
        await bookmark.write(sent.line);
      },
      onFault: (line, fault) => tell(`line ${line}: ${fault}`),
      onWaiting: (reason) => process.stderr.write(`${reason}; trying again\n`),
      onNotice: (notice) => process.stderr.write(`${notice}\n`),
      onSent: (place) => lines.add(place),
    });
    await bookmark.remove();
    return { progress, lines, seconds: (performance.now() - started) / 1000 };
  } finally {
    bar.stop();
  }
}

/** Prints lines up to a maximum. */
function teller(): (text: string) => void {
  let count = 0;
  return (text) => {
    count += 1;
    if (count <= faultsShownMax) process.stderr.write(`${text}\n`);
    else if (count === faultsShownMax + 1) process.stderr.write('further ones are only counted\n');
  };
}

/**
 * The id of the service of `--service`, which is an id, name or code. Throws if there is none,
 * before anything is sent. For a token that may only send, the value is used unchecked.
 */
async function serviceOf({ apiUrl, token, service }: Target): Promise<string | undefined> {
  if (service === undefined) return undefined;
  const address = `${apiUrl}/api/v1/external/services/${encodeURIComponent(service)}`;
  const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } }).catch(
    () => undefined,
  );
  if (answer?.status === 404) {
    throw new Error(`There is no service '${service}' (--service); nothing was sent.`);
  }
  return answer?.ok === true ? ((await answer.json()) as { id: string }).id : service;
}

interface Target extends IngestRunOptions {
  readonly apiUrl: string;
  readonly token: string;
}

/**
 * Sends the file and prints the outcome; the exit code is 1 if a line was refused, rejected by
 * rating, or is not rated yet.
 */
export async function runIngest(path: string, options: IngestRunOptions): Promise<void> {
  const file = await stat(path).catch(() => undefined);
  if (!file?.isFile()) throw new Error(`There is no file '${path}'.`);
  const apiUrl = options.url ?? (await instanceAddresses()).apiUrl;
  const asked = { ...options, apiUrl, token: await readerToken(options) };
  const service = await serviceOf(asked);
  const target = { ...asked, ...defined({ service }) };
  const bookmark = new Bookmark(path, file.size, `${apiUrl} ${options.tenant ?? ''}`);
  const { progress, lines, seconds } = await sendFile(path, target, bookmark);
  const { accepted, refused } = progress;
  const pace = `${seconds.toFixed(1)} s, ${Math.round(accepted / seconds)}/s`;
  const outcome = await findOutcome(target, lines);
  if (refused > 0) process.exitCode = 1;
  if (outcome === undefined) {
    process.stderr.write('what became of them only the role READER may read\n');
    process.stdout.write(`accepted ${accepted}; refused ${refused} (${pace})\n`);
    return;
  }
  const { rated, duplicate, rejected, pending, reasons, rejectedLines } = outcome;
  if (rejected > 0) {
    const counts = reasons.map(([code, events]) => `${events} ${code}`);
    process.stderr.write(`rejected, to be sent again when mended: ${counts.join(', ')}\n`);
  }
  for (const { line, event } of rejectedLines.slice(0, faultsShownMax)) {
    const { externalTransactionId: id, code, reason } = event;
    process.stderr.write(`line ${line}: ${id ?? 'without id'}: ${code ?? ''}, ${reason ?? ''}\n`);
  }
  if (pending > 0) process.stderr.write('rating does not go on: is a worker up?\n');
  process.stdout.write(
    `accepted ${accepted} = rated ${rated} + duplicate ${duplicate} + ` +
      `rejected ${rejected} + pending ${pending}; refused ${refused} (${pace})\n`,
  );
  if (rejected + pending > 0) process.exitCode = 1;
}
