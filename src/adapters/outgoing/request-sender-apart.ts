import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../../platform/config/config.js';
import type { Logger } from '../../platform/log.js';
import type { Tells, Told } from './request-sender-process.js';
import type { WebhookAnswer, OutgoingRequest, RequestSender } from './request-sender.js';
import type { WebhookSettings } from '../webhooks/webhook-sender.js';

const extension = fileURLToPath(import.meta.url).slice(-3);
const script = fileURLToPath(new URL(`request-sender-process${extension}`, import.meta.url));
/** Mebibytes of the process: 400 attempts, most of them with bodies of some kilobytes. */
const memoryMax = 512;
/** How much longer than its time limit an attempt may take before the process counts as stuck. */
const graceMs = 5_000;
/** How long a process may take to end before it is killed. */
const endMsMax = 2_000;
/** How long after its end the next one is started: one that cannot live must not be started all the time. */
const restartMs = 500;

/** An attempt that waits for its answer. */
interface Waiting {
  readonly startedAt: Date;
  readonly timer: NodeJS.Timeout;
  readonly answer: (answer: WebhookAnswer) => void;
}

/** The options of Node for the process: those of this one, but for what is said of its memory and debugger. */
const nodeOptions = (): string[] => [
  ...process.execArgv.filter((each) => !/^--(max-|inspect|debug)/.test(each)),
  `--max-old-space-size=${memoryMax}`,
];

/** One process, and the attempts that it makes. It is never used again once it has failed. */
class SendingProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #timeoutMs: number;
  readonly #ended: Promise<void>;
  #lastId = 0;
  #hasEnded = false;

  constructor(settings: WebhookSettings, onFailure: (reason: string) => void) {
    this.#timeoutMs = settings.timeoutMs;
    const child = fork(script, [JSON.stringify(settings)], {
      execArgv: nodeOptions(),
      env: bareEnvironment(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    // This process ends when its own work has ended, whatever the other one does.
    child.unref();
    child.channel?.unref();
    child.on('message', (told) => this.#settle(told as Tells));
    this.#ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        this.#failAll(reason);
        onFailure(reason);
        resolve();
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(`it ended with ${signal ?? code ?? 'no code'}`));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  post(post: OutgoingRequest): Promise<WebhookAnswer> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), this.#timeoutMs + graceMs);
      this.#waiting.set(id, { startedAt: new Date(), timer, answer: resolve });
      const told: Told = { id, post };
      this.#child.send(told, (error) => {
        if (error) this.#fail(id, error.message);
      });
    });
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    if (this.#child.connected) this.#child.disconnect();
    const limit = new AbortController();
    const late = wait(endMsMax, 'late', { signal: limit.signal }).catch(() => 'ended');
    if ((await Promise.race([this.#ended, late])) === 'late') this.#child.kill('SIGKILL');
    limit.abort();
  }

  #settle({ id, answer }: Tells): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.answer(answer);
  }

  #fail(id: number, reason: string): void {
    const startedAt = this.#waiting.get(id)?.startedAt ?? new Date();
    const error = `The sender of webhooks failed: ${reason}.`;
    const durationMs = Date.now() - startedAt.getTime();
    const none = { isOk: false, statusCode: null, answer: null };
    this.#settle({ id, answer: { ...none, error, startedAt, durationMs } });
  }

  #failAll(reason: string): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, reason);
  }
}

/** A sender whose process can be looked at. */
export interface RequestSenderApart extends RequestSender {
  /** Of the process that sends at the moment; undefined while there is none. */
  readonly pid: () => number | undefined;
}

/**
 * Sends requests from a child process, which is started with the first request, and restarted when
 * it dies: a crash fails only its own attempts.
 */
export function openRequestSenderApart(settings: WebhookSettings, log: Logger): RequestSenderApart {
  let sending: SendingProcess | undefined;
  let isClosed = false;
  let pause = Promise.resolve();
  const onFailure = (reason: string): void => {
    if (isClosed) return;
    log.error({ reason }, 'the process that sends webhooks has ended; starting it again');
    pause = wait(restartMs, undefined, { ref: false });
  };
  const current = async (): Promise<SendingProcess> => {
    if (sending?.hasEnded === true) await pause;
    // Another caller may have waited, too, and started the process.
    if (sending === undefined || sending.hasEnded) {
      if (isClosed) throw new Error('it is closed');
      sending = new SendingProcess(settings, onFailure);
    }
    return sending;
  };
  return {
    pid: () => (sending?.hasEnded === false ? sending.pid : undefined),
    async post(post) {
      try {
        return await (await current()).post(post);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return {
          isOk: false,
          statusCode: null,
          answer: null,
          startedAt: new Date(),
          durationMs: 0,
          error: `The sender of webhooks failed: ${reason}.`,
        };
      }
    },
    async close() {
      isClosed = true;
      await sending?.end();
    },
  };
}
