import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { findProcesses } from '../../src/embedded/processes.js';
import { freePort } from '../../src/platform/free-port.js';
import { productServers } from '../start/product-servers.js';
import { removeFolder, makeFolder, startProgram, until, type Started } from '../start/workbench.js';
import { told } from './told.js';

const external = '/api/v1/external';
const folder = told('TEST_SERVERS_FOLDER');

type Summary = Record<'accepted' | 'rated' | 'duplicate' | 'rejected' | 'pending', number>;

/** Processes of the product on servers that they share. */
class Processes {
  readonly #env: Record<string, string>;
  readonly #started = new Map<string, Started>();
  readonly #ports = new Map<string, number>();

  constructor(env: Record<string, string>) {
    this.#env = env;
  }

  get urls(): string[] {
    return [...this.#ports].flatMap(([name, port]) =>
      name.startsWith('api') ? [`http://127.0.0.1:${port}`] : [],
    );
  }

  /**
   * Starts `api-1`, `worker-2` and the like, at the port that it had before. A start that meets a
   * server which is away ends and says so; it is begun again, as `restart` in docker-compose.yml does.
   */
  async start(name: string): Promise<void> {
    const port = this.#ports.get(name) ?? (await freePort());
    this.#ports.set(name, port);
    const role = name.replace(/-.*/, '');
    const env = { ...this.#env, ROLE: role, PORT: String(port), LOG_LEVEL: 'warn' };
    const isReady = async (): Promise<boolean> => {
      const started = startProgram('npm', ['start', '--silent'], env);
      this.#started.set(name, started);
      const isOver = () => started.output().includes('Durabill is ready');
      const isEnded = () => started.child.exitCode !== null;
      await until(() => isOver() || isEnded(), 120_000, `the start of ${name}`);
      if (isEnded()) expect(started.output()).to.match(/Cannot (reach|use the database)/);
      return isOver();
    };
    await until(isReady, 120_000, `a start of ${name} that meets all servers`);
  }

  async kill(name: string): Promise<void> {
    const { child, ended } = this.#started.get(name) ?? {};
    if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
  }

  async command(...words: readonly string[]): Promise<string> {
    const printed = startProgram('npm', ['run', '--silent', 'durabill', '--', ...words], this.#env);
    expect(await printed.ended, printed.output()).to.equal(0);
    return printed.output().trim();
  }

  output(): string {
    return [...this.#started]
      .map(([name, { output }]) => `${name}: ${output().slice(-1500)}`)
      .join();
  }

  async close(): Promise<void> {
    for (const name of this.#started.keys()) await this.kill(name);
  }
}

describe('two API and two worker processes', function () {
  this.timeout(300_000);
  let processes: Processes;
  let dataDir: string;
  let databaseUrl: string;
  let token = '';
  let serviceId = '';

  const send = (url: string, path: string, body?: unknown, method = 'POST'): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(20_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  const summary = async (): Promise<Summary> => {
    const [url = ''] = processes.urls;
    const response = await send(url, '/v1/usage-events/summary', undefined, 'GET');
    expect(response.status).to.equal(200);
    return (await response.json()) as Summary;
  };

  before(async () => {
    dataDir = await makeFolder();
    const env = await productServers();
    databaseUrl = env['DATABASE_URL'] ?? '';
    processes = new Processes({ ...env, DATA_DIR: dataDir });
    await Promise.all(['api-1', 'api-2', 'worker-1', 'worker-2'].map((n) => processes.start(n)));
    token = await processes.command(
      'token',
      '--tenant',
      'production',
      '--create-tenant',
      '--org',
      'o',
      '--roles',
      'ADMIN',
    );
    const [first = '', second = ''] = processes.urls;
    expect((await send(first, `${external}/accounts`, demoAccount)).status).to.equal(201);
    const service = await send(second, `${external}/services`, demoService);
    expect(service.status).to.equal(201);
    serviceId = ((await service.json()) as { id: string }).id;
  });
  after(async () => {
    await processes.close();
    await removeFolder(dataDir);
  });

  const event = (externalTransactionId: string) => ({
    key: externalTransactionId,
    message: {
      externalTransactionId,
      serviceId,
      billingAccountRef: 'acme',
      eventTimestamp: '2026-10-05T12:00:00Z',
      dimensions: { api_calls: '2', priority: '1', region: 'us' },
    },
  });

  it('are ready, and know one another', async () => {
    for (const url of processes.urls) {
      expect((await fetch(`${url}/readyz`)).status).to.equal(200);
      expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    }
  });

  it('lose and double nothing while each of them and of their servers is killed', async () => {
    const accepted = new Set<string>();
    let sent = 0;
    let isSending = true;
    const sender = async (number: number): Promise<void> => {
      while (isSending) {
        const id = `stream-${(sent += 1)}`;
        const url = processes.urls[number % 2] ?? '';
        const status = await send(url, '/v1/ingest/usage', event(id)).then(
          (response) => response.status,
          () => 0,
        );
        if (status === 200) accepted.add(id);
        else await wait(50);
      }
    };
    const senders = Array.from({ length: 8 }, (_each, index) => sender(index));
    const kills: string[] = [];
    const killServer = (name: string, ...pids: number[]): void => {
      expect(pids.length, name).to.be.greaterThan(0);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      kills.push(name);
    };
    const pidsOf = (...texts: string[]) => findProcesses(...texts).map(({ pid }) => pid);
    const pidOfPostgres = async (): Promise<number> => {
      const file = join(folder, 'postgres', 'postgres', 'postmaster.pid');
      return Number((await readFile(file, 'utf8')).split('\n')[0]);
    };
    const killProcess = async (name: string): Promise<void> => {
      await processes.kill(name);
      kills.push(name);
    };
    try {
      await wait(1_000);
      await killProcess('worker-1');
      await wait(1_000);
      killServer('Kafka', ...pidsOf(folder, 'kafka.Kafka'));
      await processes.start('worker-1');
      await killProcess('api-1');
      killServer('PostgreSQL', await pidOfPostgres());
      await processes.start('api-1');
      killServer('Temporal', ...pidsOf(`${folder}/temporal`));
      await killProcess('worker-2');
      await processes.start('worker-2');
      await wait(2_000);
    } finally {
      isSending = false;
      await Promise.all(senders);
    }
    const isSettled = () =>
      summary().then(
        ({ pending }) => pending === 0,
        () => false,
      );
    await until(isSettled, 90_000, 'rating of all events').catch((error: unknown) => {
      throw new Error(processes.output(), { cause: error });
    });
    const counts = await summary();
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const rated = await client.query<{ id: string; count: string }>(
      'select external_tran_id as id, count(*) from rated_transaction group by 1',
    );
    const sums = await client.query<{ value: string; volume: string }>(
      `select (select sum(value) from usage_counter) as value,
              (select sum(quantity) from rated_transaction
               where rate_card_row_id is not null) as volume`,
    );
    await client.end();
    const ids = new Set(rated.rows.map((row) => row.id));
    const doubled = rated.rows.filter((row) => row.count !== '1');
    const lost = [...accepted].filter((id) => !ids.has(id));
    process.stderr.write(
      `      killed ${kills.join(', ')}; sent ${sent}, accepted ${accepted.size}, ` +
        `${JSON.stringify(counts)}, doubled ${doubled.length}, lost ${lost.length}\n`,
    );
    expect({ doubled, lost }).to.deep.equal({ doubled: [], lost: [] });
    expect(accepted.size).to.be.greaterThan(0);
    const { accepted: all, rated: done, duplicate, rejected, pending } = counts;
    expect(all).to.equal(done + duplicate + rejected + pending);
    expect(Number(sums.rows[0]?.value)).to.equal(2 * ids.size);
    expect(sums.rows[0]?.value).to.equal(sums.rows[0]?.volume);
  });
});
