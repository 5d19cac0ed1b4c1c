import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { defined } from '../../src/kernel/defined.js';
import type { Places } from '../support/http/world.js';

/**
 * An address of this machine that is not the neighbour's: limits by address that the attacker runs into
 * must not be the neighbour's. Linux answers on all of 127.0.0.0/8, others on 127.0.0.1 alone.
 */
const localAddress = process.platform === 'linux' ? '127.0.0.2' : undefined;

/** More than the product has connections to its database. */
export const crowd = 48;

/** How long what is sent behind an attack may be refused. */
const cleanUpMs = 120_000;

export interface Request {
  readonly path: string;
  readonly method?: Dispatcher.HttpMethod;
  readonly body?: string | Buffer | Readable;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the tenant's own token; null sends none. */
  readonly token?: string | null;
}

export interface Answer {
  /** 0: none came. */
  readonly status: number;
  readonly text: string;
  /** What it gave a browser to keep, and where it sent it. */
  readonly cookies?: readonly string[];
  readonly location?: string;
}

/** What the attacker owns, found once and used by many attacks. */
export interface Loot extends Places {
  /** A record type without fields that holds many records. */
  readonly hoardId: string;
  /** An invoice with as many items as a whole tenant's lines make. */
  readonly hugeInvoiceId: string;
  /** Of a sandbox that he has beside his tenant. */
  readonly sandboxToken: string;
}

interface Given {
  readonly url: string;
  readonly token: string;
  readonly loot: Loot;
  /** Runs SQL as the owner of the database: what Kafka's retention or an operator may do. */
  readonly query: (sql: string) => Promise<object[]>;
  /** Stops the database and lets it go on when the work is done. */
  readonly pauseDatabase: (work: () => Promise<void>) => Promise<void>;
}

/** Sends what one tenant may send, until its time is over; answers are counted by their status. */
export class Attacker {
  readonly url: string;
  readonly token: string;
  readonly loot: Loot;
  readonly query: Given['query'];
  readonly pauseDatabase: Given['pauseDatabase'];
  readonly statuses = new Map<number, number>();
  /** The first answer that was a fault of the product itself, with the request that it answered. */
  fault: string | undefined;
  bytes = 0;
  /** Differs in every attack, and makes natural keys that nothing else has. */
  readonly stamp: string;
  #count = 0;
  readonly #agent: Agent;
  readonly #sockets = new Set<Socket>();
  readonly #afterwards: Request[] = [];
  readonly #end: number;

  constructor({ url, token, loot, query, pauseDatabase }: Given, millis: number) {
    this.url = url;
    this.token = token;
    this.loot = loot;
    this.query = query;
    this.pauseDatabase = pauseDatabase;
    this.stamp = Math.random().toString(36).slice(2, 10);
    this.#end = Date.now() + millis;
    this.#agent = new Agent({
      connections: 4_000,
      pipelining: 1,
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
      connect: { timeout: 30_000, ...defined({ localAddress }) },
    });
  }

  isOver(): boolean {
    return Date.now() >= this.#end;
  }

  /** Resolves when the time of the attack is over. */
  async untilOver(): Promise<void> {
    await wait(Math.max(0, this.#end - Date.now()));
  }

  /** A number that no other call has had. */
  next(): number {
    this.#count += 1;
    return this.#count;
  }

  #note(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** Sends a request; never throws. Long answers are read and thrown away. */
  async send({ path, method = 'GET', body, headers = {}, token }: Request): Promise<Answer> {
    const bearer = token === undefined ? this.token : token;
    try {
      const response = await this.#agent.request({
        origin: this.url,
        path,
        method,
        body: body ?? null,
        headers: {
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      });
      const text = await this.#read(response.body);
      this.#note(response.statusCode);
      if (response.statusCode === 500) {
        this.fault ??= `${method} ${path.slice(0, 200)}: ${text.slice(0, 300)}`;
      }
      const { 'set-cookie': cookies = [], location } = response.headers;
      return {
        status: response.statusCode,
        text,
        cookies: [cookies].flat(),
        ...defined({ location: [location].flat()[0] }),
      };
    } catch {
      this.#note(0);
      return { status: 0, text: '' };
    }
  }

  async #read(body: AsyncIterable<Buffer>): Promise<string> {
    const kept: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes <= 1024 * 1024) kept.push(chunk);
    }
    this.bytes += bytes;
    return Buffer.concat(kept).toString('utf8');
  }

  /** Sends JSON; the parsed answer, or undefined where it was refused. */
  async make(path: string, body: unknown, method: Dispatcher.HttpMethod = 'POST') {
    const answer = await this.send({ path, method, body: JSON.stringify(body) });
    if (answer.status < 200 || answer.status > 299) return undefined;
    try {
      return JSON.parse(answer.text) as Record<string, unknown>;
    } catch {
      return undefined;
    }
  }

  /** Sends JSON; the id of what was made, or `otherwise` where it was refused. */
  async makeId(path: string, body: unknown, otherwise = ''): Promise<string> {
    const made = await this.make(path, body);
    return typeof made?.['id'] === 'string' ? made['id'] : otherwise;
  }

  /** So many at once send one request after another until the time is over. */
  async flood(make: (index: number) => Request, connections: number = crowd): Promise<void> {
    await this.repeat(() => this.send(make(this.next())), connections);
  }

  /** So many at once do the same again and again until the time is over. */
  async repeat(work: () => Promise<unknown>, connections: number = crowd): Promise<void> {
    const worker = async (): Promise<void> => {
      while (!this.isOver()) {
        const answer = await work();
        // What is refused at once must not make the attacker's own process the bottleneck.
        if ([0, 429, 503].includes((answer as Answer | undefined)?.status ?? -1)) await wait(20);
      }
    };
    await Promise.race([
      Promise.all(Array.from({ length: connections }, worker)),
      this.untilOver(),
    ]);
  }

  /** A connection on which this text is written as it is; it stays open until the attack is over. */
  socket(text: string | Buffer, onData?: (chunk: Buffer) => void): Socket {
    const { hostname, port } = new URL(this.url);
    const socket = connect({ host: hostname, port: Number(port), ...defined({ localAddress }) });
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.bytes += chunk.length;
      onData?.(chunk);
      const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.subarray(0, 20).toString('latin1'))?.[1];
      if (status !== undefined) this.#note(Number(status));
    });
    socket.on('close', () => this.#sockets.delete(socket));
    socket.write(text);
    return socket;
  }

  /** The start of a request of this tenant, to be written on a socket. */
  head(method: string, path: string, headers: readonly string[] = []): string {
    return [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${this.token}`,
      'Content-Type: application/json',
      ...headers,
      '',
      '',
    ].join('\r\n');
  }

  /** Has this sent once the attack is over. */
  afterwards(request: Request): void {
    this.#afterwards.push(request);
  }

  /**
   * Sends what is to be sent behind the attack, the last first, again where it is refused for now: what an
   * attack leaves would be a second one beside the next.
   */
  async cleanUp(): Promise<void> {
    const end = Date.now() + cleanUpMs;
    for (const request of this.#afterwards.splice(0).reverse()) {
      while ([0, 429, 503, 504].includes((await this.send(request)).status)) {
        if (Date.now() > end) throw new Error(`still refused: ${request.path}`);
        await wait(200);
      }
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#agent.destroy();
  }
}
