import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { readInstance } from '../../src/platform/embedded/instance-lock.js';
import { findProcesses, freePort } from '../../src/platform/embedded/processes.js';
import { demoAccount, demoService } from '../../src/cli/demo-catalog.js';
import { makeFolder, removeFolder, startProgram, until, type Started } from '../start/workbench.js';

const external = '/api/v1/external';

/** The whole product under kill -9, as an operator meets it: `npm start` on a folder of its own. */
describe('killed at any moment', function () {
  // Several starts of the whole product, on a machine that others use as well.
  this.timeout(180_000);
  let folder = '';
  let port = '';
  let token = '';
  let serviceId = '';
  let instance: Started | undefined;

  const launch = async (): Promise<void> => {
    const started = startProgram('npm', ['start', '--silent'], { PORT: port, DATA_DIR: folder });
    instance = started;
    await until(
      () => started.output().includes('Durabill is ready') || started.child.exitCode !== null,
      90_000,
      'the banner',
    );
    expect(started.output(), started.output()).to.contain('Durabill is ready');
  };

  /** The process and all its children die at once, the embedded servers (own groups) live on. */
  const kill = async (): Promise<void> => {
    process.kill(-(instance?.child.pid ?? 0), 'SIGKILL');
    await instance?.ended;
  };

  const send = (path: string, body?: unknown, method = 'POST'): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  const create = async (path: string, body: object): Promise<string> => {
    const response = await send(`${external}${path}`, body);
    expect(response.status).to.equal(201);
    return ((await response.json()) as { id: string }).id;
  };

  const event = (externalTransactionId: string, calls: number) => ({
    key: externalTransactionId,
    message: {
      ...{ externalTransactionId, serviceId, billingAccountRef: 'acme' },
      eventTimestamp: '2026-10-05T12:00:00Z',
      dimensions: { api_calls: String(calls), priority: '1', region: 'us' },
    },
  });

  type Summary = Record<'accepted' | 'rated' | 'duplicate' | 'rejected' | 'pending', number>;

  const summary = async (): Promise<Summary> => {
    const response = await send('/v1/usage-events/summary', undefined, 'GET');
    expect(response.status).to.equal(200);
    return (await response.json()) as Summary;
  };

  const settled = async (): Promise<Summary> => {
    await until(async () => (await summary()).pending === 0, 60_000, 'rating of all events').catch(
      (error: unknown) => {
        throw new Error(`The product said: ${instance?.output().slice(-3000) ?? ''}`, {
          cause: error,
        });
      },
    );
    return summary();
  };

  before(async () => {
    folder = await makeFolder();
    port = String(await freePort());
    await launch();
    const printed = startProgram(
      'npm',
      [
        'run',
        '--silent',
        'durabill',
        '--',
        'token',
        '--tenant',
        'kill',
        '--org',
        'o',
        '--roles',
        'ADMIN',
      ],
      { DATA_DIR: folder },
    );
    expect(await printed.ended).to.equal(0);
    token = printed.output().trim();
    await create('/accounts', demoAccount);
    serviceId = await create('/services', demoService);
  });
  after(async () => {
    instance?.child.kill('SIGKILL');
    await removeFolder(folder);
  });

  it('rates an event once that is sent 50 times at once, and again after kill -9', async () => {
    const fifty = () =>
      Promise.all(Array.from({ length: 50 }, () => send('/v1/ingest/usage', event('once', 1500))));
    const first = await fifty();
    expect(first.map((response) => response.status)).to.deep.equal(Array(50).fill(200));
    await kill();
    await launch();
    const second = await fifty();
    expect(second.map((response) => response.status)).to.deep.equal(Array(50).fill(200));
    expect(await settled()).to.include({ accepted: 100, rated: 1, duplicate: 99, rejected: 0 });
    const list = await send(`${external}/rated-transactions?q=once`, undefined, 'GET');
    const { data } = (await list.json()) as { data: { totalElements: number } };
    expect(data.totalElements).to.equal(1);
  });

  it('loses and doubles nothing when it dies while events stream, and PostgreSQL with it', async () => {
    const accepted = new Set<string>();
    let sent = 0;
    let isSending = true;
    const sender = async (): Promise<void> => {
      while (isSending) {
        const id = `stream-${(sent += 1)}`;
        const response = await send('/v1/ingest/usage', event(id, 2)).catch(() => undefined);
        if (response?.status === 200) accepted.add(id);
        else await wait(20);
      }
    };
    const senders = Array.from({ length: 8 }, sender);
    for (const delayMs of [300, 700, 1100]) {
      await wait(delayMs);
      if (delayMs === 700) {
        for (const { pid } of findProcesses(folder)) process.kill(pid, 'SIGKILL');
      }
      await kill();
      await launch();
    }
    await wait(500);
    isSending = false;
    await Promise.all(senders);
    const counts = await settled();
    process.stderr.write(
      `      sent ${sent}, accepted ${accepted.size}, ${JSON.stringify(counts)}\n`,
    );

    expect(accepted.size).to.be.greaterThan(0);
    expect(counts.accepted).to.equal(
      counts.rated + counts.duplicate + counts.rejected + counts.pending,
    );
    // A send whose answer was lost may have been accepted: at least those that were confirmed.
    const db = new pg.Client({ connectionString: (await readInstance(folder))?.databaseUrl ?? '' });
    await db.connect();
    const { rows } = await db.query<{ id: string; count: string }>(
      `select external_tran_id as id, count(*) from rated_transaction
       where external_tran_id like 'stream-%' group by 1`,
    );
    const counters = await db.query<{ value: string; volume: string }>(
      `select (select sum(value) from usage_counter) as value,
              (select sum(volume) from rated_dimension) as volume`,
    );
    await db.end();
    expect(rows.filter((row) => row.count !== '1')).to.deep.equal([]);
    const rated = new Set(rows.map((row) => row.id));
    expect([...accepted].filter((id) => !rated.has(id))).to.deep.equal([]);
    // The counter is the sum of what was rated: 1,500 once and 2 for each event of the stream.
    expect(Number(counters.rows[0]?.value)).to.equal(1500 + 2 * rated.size);
    expect(counters.rows[0]?.value).to.equal(counters.rows[0]?.volume);
  });

  it('ends every flow once that was under way when it died', async () => {
    const start = (reference: string) => ({
      ...{ Company_Name: reference, First_Name: 'A', Last_Name: 'B', Line1: 'L', City: 'C' },
      ...{ State: 'S', Country: 'US', Currency: 'USD', Zip_Code: '1', ExternalId: reference },
    });
    const run = (reference: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}${external}/run/billing/account/create`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          'idempotency-key': reference,
        },
        body: JSON.stringify(start(reference)),
      });
    const sent = new Set<string>();
    const confirmed = new Set<string>();
    let isSending = true;
    const sender = async (): Promise<void> => {
      while (isSending) {
        const reference = `flow-${sent.size}`;
        sent.add(reference);
        while (isSending && !confirmed.has(reference)) {
          const response = await run(reference).catch(() => undefined);
          if (response?.status === 200) confirmed.add(reference);
          else await wait(100);
        }
      }
    };
    const senders = Array.from({ length: 4 }, sender);
    for (const delayMs of [2_000, 3_000]) {
      await wait(delayMs);
      await kill();
      await launch();
    }
    await wait(500);
    isSending = false;
    await Promise.all(senders);
    // A caller whose answer was lost asks again with the same key.
    for (const reference of sent) {
      const response = await run(reference);
      expect(response.status, `${reference}: ${await response.text()}`).to.equal(200);
    }
    const db = new pg.Client({ connectionString: (await readInstance(folder))?.databaseUrl ?? '' });
    await db.connect();
    const accounts = await db.query<{ accounts: string; addresses: string; contacts: string }>(
      `select count(*) as accounts, count(distinct external_id) as ids,
         (select count(*) from address join account on account.id = account_id
          where external_id like 'flow-%') as addresses,
         count(*) filter (where jsonb_array_length(contact_info_list) = 1) as contacts
       from account where external_id like 'flow-%' and deleted_at is null`,
    );
    const executions = await db.query<{ status: string; count: string }>(
      `select status, count(*) from execution where workflow = 'createAccount' group by status`,
    );
    await db.end();
    process.stderr.write(`      sent ${sent.size}, confirmed ${confirmed.size}\n`);
    const count = String(sent.size);
    expect(confirmed.size).to.be.greaterThan(0);
    expect(accounts.rows).to.deep.equal([
      { accounts: count, ids: count, addresses: count, contacts: count },
    ]);
    expect(executions.rows).to.deep.equal([{ status: 'completed', count }]);
  });
});
