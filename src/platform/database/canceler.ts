import pg from 'pg';
import type { Logger } from '../log.js';

/** How long the connection that cancels stays open when there is nothing to cancel. */
const idleMs = 10_000;
const statementsMax = 200;

interface Waiting {
  readonly pid: number;
  readonly done: () => void;
}

/**
 * Cancels running statements of PostgreSQL backends, over a connection of its own: the pool may be
 * full of the statements to be canceled.
 */
export class Canceler {
  readonly #url: string;
  readonly #log: Logger | undefined;
  #waiting: Waiting[] = [];
  #client: pg.Client | undefined;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string, log?: Logger) {
    this.#url = url;
    this.#log = log;
  }

  /** Resolves when the backend has been signaled, or cannot be: then its time limit ends it. */
  cancel(pid: number): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ pid, done });
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    });
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#disconnect();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const turn = this.#waiting.splice(0, statementsMax);
      try {
        const client = await this.#connect();
        const pids = turn.map(({ pid }) => pid);
        await client.query('select pg_cancel_backend(pid) from unnest($1::integer[]) as pid', [
          pids,
        ]);
      } catch (error) {
        this.#log?.warn({ err: error }, 'abandoned statements cannot be canceled');
        await this.#disconnect();
      } finally {
        for (const { done } of turn) done();
      }
    }
  }

  async #connect(): Promise<pg.Client> {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#disconnect(), idleMs);
    this.#timer.unref();
    if (this.#client) return this.#client;
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 2_000,
      query_timeout: 2_000,
      keepAlive: true,
      application_name: 'durabill-cancel',
    });
    client.on('error', () => {
      if (this.#client === client) this.#client = undefined;
    });
    await client.connect();
    this.#client = client;
    return client;
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }
}
