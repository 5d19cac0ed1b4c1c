import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { accountRef } from '../../bench/fixture.js';

/** What every event counts: sums of counters follow from how many were rated. */
export const volumeOfEvent = 2;
export const accountCount = 50;
export const idPrefix = 'soak';

const retryMs = 200;
/** Beyond it nobody waits for an answer; the product itself gives up after 10 s. */
const answerMsMax = 20_000;
const tickMs = 10;

interface Answer {
  /** 0: no answer came. */
  readonly status: number;
  readonly millis: number;
  /** Why it is no answer that the documents give; undefined when it is one. */
  readonly fault: string | undefined;
}

/** The error body of ingestion (spec/gateway.md R5); 429 and 503 also say when to come again. */
function faultOf(status: number, text: string, retryAfter: unknown): string | undefined {
  if (status === 200) return undefined;
  const body = JSON.parse(text) as { error?: { message?: unknown } };
  const expected = {
    is_gateway_error: false,
    status_code: status,
    error: { message: body.error?.message },
    extra_fields: {},
  };
  if (JSON.stringify(body) !== JSON.stringify(expected)) return `${status} with ${text}`;
  if (status !== 429 && status !== 503) return undefined;
  return /^\d+$/.test(String(retryAfter)) ? undefined : `${status} without Retry-After`;
}

/** Sends usage events over HTTP and keeps what was confirmed. */
export class Traffic {
  /** Numbers of the events that were answered with 200. */
  readonly confirmed = new Set<number>();
  /** How many answers had each status; 0: none came. */
  readonly statuses = new Map<number, number>();
  readonly faults = new Map<string, number>();
  /** Milliseconds to each answer since the last `take`. */
  #millis: number[] = [];
  sent = 0;
  /** Events that were due when every socket was taken. */
  skipped = 0;
  #underWay = 0;
  readonly #pool: Pool;
  readonly #token: string;
  readonly #services: readonly string[];

  constructor(url: string, token: string, services: readonly string[], sockets: number) {
    this.#pool = new Pool(url, {
      connections: sockets,
      pipelining: 1,
      connect: { timeout: answerMsMax },
      headersTimeout: answerMsMax,
      bodyTimeout: answerMsMax,
    });
    this.#token = token;
    this.#services = services;
  }

  #bodyOf(number: number): string {
    const externalTransactionId = `${idPrefix}-${number}`;
    return JSON.stringify({
      key: externalTransactionId,
      message: {
        externalTransactionId,
        serviceId: this.#services[number % this.#services.length],
        eventTimestamp: '2026-10-05T12:00:00Z',
        billingAccountRef: accountRef(number % accountCount),
        dimensions: { api_calls: String(volumeOfEvent) },
      },
    });
  }

  async #post(number: number): Promise<Answer> {
    const since = performance.now();
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: 'POST',
        path: '/v1/ingest/usage',
        body: this.#bodyOf(number),
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      });
      const text = await body.text();
      const fault = faultOf(statusCode, text, headers['retry-after']);
      return { status: statusCode, millis: performance.now() - since, fault };
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return { status: 0, millis: performance.now() - since, fault: code ?? message };
    }
  }

  /** Sends one event once; whether it was confirmed. */
  async #send(number: number): Promise<boolean> {
    const { status, millis, fault } = await this.#post(number);
    this.#millis.push(millis);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (fault !== undefined) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    if (status === 200) this.confirmed.add(number);
    return status === 200;
  }

  /** Sends the next event once; the milliseconds to its 200, else undefined. */
  async sendOne(): Promise<number | undefined> {
    const since = performance.now();
    return (await this.#send((this.sent += 1))) ? performance.now() - since : undefined;
  }

  /** Sends the next event until it is confirmed, always under the same id. */
  async #sendSurely(): Promise<void> {
    const number = (this.sent += 1);
    while (!(await this.#send(number))) await wait(retryMs);
  }

  /** So many senders, each of which sends its next event when the last one is confirmed. */
  async asFastAsAnswered(senders: number, seconds: number): Promise<void> {
    const end = Date.now() + seconds * 1000;
    const sender = async (): Promise<void> => {
      while (Date.now() < end) await this.#sendSurely();
    };
    await Promise.all(Array.from({ length: senders }, sender));
  }

  /**
   * So many events a second, whatever becomes of them; resolves when the last has its answer. An event
   * that is due while `underWayMax` others wait for theirs is skipped, not sent later; each second as
   * many more may wait as `addedMax` says.
   */
  async atRate(
    perSecond: number,
    options: { underWayMax: number; addedMax?: number; isOver: () => boolean; isRetried: boolean },
  ): Promise<void> {
    const { underWayMax, addedMax = 0, isOver, isRetried } = options;
    const since = performance.now();
    let due = 0;
    while (!isOver()) {
      const passed = (performance.now() - since) / 1000;
      const dueNow = Math.floor(passed * perSecond);
      const most = underWayMax + passed * addedMax;
      for (; due < dueNow; due += 1) {
        if (this.#underWay >= most) {
          this.skipped += 1;
          continue;
        }
        this.#underWay += 1;
        const work = isRetried ? this.#sendSurely() : this.sendOne();
        void work.finally(() => (this.#underWay -= 1));
      }
      await wait(tickMs);
    }
    while (this.#underWay > 0) await wait(tickMs);
  }

  /** Half of the answers since the last call took no longer than `p50` milliseconds. */
  take(): { p50: number; p99: number; max: number } {
    const sorted = this.#millis.sort((a, b) => a - b);
    this.#millis = [];
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
    return { p50: at(0.5), p99: at(0.99), max: at(1) };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
