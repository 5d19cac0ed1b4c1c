import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import cliProgress from 'cli-progress';
import { instanceAddresses, withInstance } from './instance.js';
import { issueForCommand } from './named-tenant.js';
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

async function tokenOf({ token, tenant, org }: IngestRunOptions): Promise<string> {
  if (token !== undefined) return token;
  if (tenant === undefined) throw new Error('Say for whom to send: --tenant ID or --token TOKEN.');
  const given = { orgId: org ?? null, roles: ['READER'], expiresInSeconds: 86_400 };
  return withInstance((access) => issueForCommand(access, tenant, given));
}

/** Where an interrupted run stopped is kept beside the file, with what tells the file from another. */
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

/** Sends the file and says how it went; the exit code is 1 when a line was not accepted. */
export async function runIngest(path: string, options: IngestRunOptions): Promise<SendProgress> {
  const file = await stat(path).catch(() => undefined);
  if (!file?.isFile()) throw new Error(`There is no file '${path}'.`);
  const apiUrl = options.url ?? (await instanceAddresses()).apiUrl;
  const token = await tokenOf(options);
  const bookmark = new Bookmark(path, file.size, `${apiUrl} ${options.tenant ?? ''}`);
  const afterLine = options.restart === true ? 0 : await bookmark.read();
  if (afterLine > 0) process.stderr.write(`going on after line ${afterLine}\n`);
  const bar = progressBar(await countLines(path));
  let faults = 0;
  const started = performance.now();
  try {
    const progress = await sendUsageFile({
      ...{ apiUrl, token, path, afterLine },
      defaults: options.service === undefined ? {} : { serviceId: options.service },
      onProgress: async (sent) => {
        bar.update(sent);
        await bookmark.write(sent.line);
      },
      onFault: (line, fault) => {
        faults += 1;
        if (faults <= faultsShownMax) process.stderr.write(`line ${line}: ${fault}\n`);
      },
      onWaiting: (reason) => process.stderr.write(`${reason}; trying again\n`),
    });
    await bookmark.remove();
    const seconds = (performance.now() - started) / 1000;
    const rate = Math.round(progress.accepted / seconds);
    process.stdout.write(
      `${progress.accepted} accepted, ${progress.refused} refused (${seconds.toFixed(1)} s, ${rate}/s)\n`,
    );
    if (progress.refused > 0) process.exitCode = 1;
    return progress;
  } finally {
    bar.stop();
  }
}
