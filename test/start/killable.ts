import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { defined } from '../../src/kernel/defined.js';
import { dataFile } from '../../src/platform/data-folder.js';
import { readInstance } from '../../src/embedded/instance-lock.js';
import { findProcesses } from '../../src/embedded/processes.js';
import { freePort } from '../../src/platform/free-port.js';
import { productServers } from './product-servers.js';
import { makeFolder, removeFolder, startProgram, until, type Started } from './workbench.js';

/** The whole product as an operator has it: `npm start` on a folder of its own, to be killed. */
export class KillableProduct {
  readonly folder: string;
  readonly #port: string;
  readonly #env: Record<string, string>;
  #started: Started | undefined;
  #pool: pg.Pool | undefined;

  private constructor(folder: string, port: string, env: Record<string, string>) {
    this.folder = folder;
    this.#port = port;
    this.#env = { ...env, DATA_DIR: folder };
  }

  /** In a new folder, unless one is given; `env` is what else its environment holds. */
  static async start(
    given: { readonly folder?: string | undefined; readonly env?: Record<string, string> } = {},
  ): Promise<KillableProduct> {
    const env = { ...(await productServers()), ...given.env };
    const folder = given.folder ?? (await makeFolder());
    const product = new KillableProduct(folder, String(await freePort()), env);
    await product.launch();
    return product;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get output(): string {
    return this.#started?.output() ?? '';
  }

  /** Whether it has ended, by itself or by somebody else. */
  get isDead(): boolean {
    const { exitCode = 0, signalCode = null } = this.#started?.child ?? {};
    return exitCode !== null || signalCode !== null;
  }

  async launch(): Promise<void> {
    const env = { ...this.#env, PORT: this.#port };
    const started = startProgram('npm', ['start', '--silent'], env);
    this.#started = started;
    await until(
      () => started.output().includes('Durabill is ready') || started.child.exitCode !== null,
      180_000,
      'the banner',
    );
    expect(started.output(), started.output()).to.contain('Durabill is ready');
  }

  /** The process and all its children die at once, the embedded servers (own groups) live on. */
  async kill(): Promise<void> {
    process.kill(-(this.#started?.child.pid ?? 0), 'SIGKILL');
    await this.#started?.ended;
  }

  /** PostgreSQL and Temporal die, too, where they are embedded. */
  async killServers(): Promise<void> {
    if (this.#env['DATABASE_URL'] !== undefined) return;
    const { postgres, temporal } = await this.#servers();
    expect(temporal).to.not.be.empty;
    for (const pid of [...postgres, ...temporal]) process.kill(pid, 'SIGKILL');
  }

  async #servers(): Promise<{ postgres: number[]; temporal: number[] }> {
    const file = join(dataFile.postgres(this.folder), 'postmaster.pid');
    const text = await readFile(file, 'utf8').catch(() => '');
    const temporal = findProcesses(dataFile.temporal(this.folder)).map(({ pid }) => pid);
    return { postgres: text === '' ? [] : [Number(text.split('\n')[0])], temporal };
  }

  /** Those that were started first, of each part that runs here; others descend from them. */
  async processes(): Promise<{ product: number[]; postgres: number[]; temporal: number[] }> {
    const pid = this.#started?.child.pid;
    const product = pid === undefined ? [] : [pid];
    if (this.#env['DATABASE_URL'] !== undefined) return { product, postgres: [], temporal: [] };
    return { product, ...(await this.#servers()) };
  }

  /** A token of an administrator, as the command line prints it. */
  async token(tenantId: string, expires = '1h'): Promise<string> {
    const words = [
      'token',
      '--tenant',
      tenantId,
      '--org',
      'o',
      '--roles',
      'ADMIN',
      '--expires',
      expires,
      '--create-tenant',
    ];
    const command = ['run', '--silent', 'durabill', '--', ...words];
    const printed = startProgram('npm', command, this.#env);
    expect(await printed.ended, printed.output()).to.equal(0);
    return printed.output().trim();
  }

  /** What a command of the command line has printed, and its exit code. */
  async command(...words: readonly string[]): Promise<{ code: unknown; output: string }> {
    const command = ['run', '--silent', 'durabill', '--', ...words];
    const printed = startProgram('npm', command, this.#env);
    return { code: await printed.ended, output: printed.output().trim() };
  }

  send(
    token: string,
    path: string,
    { body, method = 'POST', key }: { body?: unknown; method?: string; key?: string } = {},
  ): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...defined({ 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async databaseUrl(): Promise<string> {
    return this.#env['DATABASE_URL'] ?? (await readInstance(this.folder))?.databaseUrl ?? '';
  }

  /**
   * Runs a query as the owner of the database, whom no tenant limits. Tests that wait ask fifty times a
   * second: opening a connection each time would take more than what they wait for.
   */
  async query<Row extends object>(sql: string): Promise<Row[]> {
    const connectionString = await this.databaseUrl();
    if (this.#pool?.options.connectionString !== connectionString) {
      void this.#pool?.end();
      this.#pool = new pg.Pool({ connectionString, max: 2 });
      // Connections end when the server is killed.
      this.#pool.on('error', () => undefined);
    }
    return (await this.#pool.query<Row>(sql)).rows;
  }

  async close(): Promise<void> {
    await this.#pool?.end();
    // With npm alone killed, the product would start its servers again before it notices.
    const child = this.#started?.child;
    if (child && child.exitCode === null && child.signalCode === null) await this.kill();
    await removeFolder(this.folder);
  }
}
