import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { timeLimits } from '../../src/platform/database/time-limits.js';
import { external } from '../support/servers/instance.js';
import { buildWorld, type World } from '../support/http/world.js';
import { RawConnection } from '../support/http/raw-connection.js';
import { useInstance } from '../support/servers/use-instance.js';

describe('work that nobody waits for, and shares of the pool', () => {
  // The database itself would wait for minutes: what ends before was ended by the product.
  const minutes = { readMs: 300_000, lockMs: 300_000 };
  const instance = useInstance({
    withWorkers: true,
    timeLimits: { ...timeLimits, request: { ...timeLimits.request, ...minutes } },
  });
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    return client;
  };
  let world: World;
  /** Holds locks, in transactions: what a transaction sees of other connections stays as it was. */
  let owner: pg.Client;
  let watcher: pg.Client;
  before(async function () {
    this.timeout(240_000);
    world = await buildWorld(await instance.tenant());
    [owner, watcher] = await Promise.all([connect(), connect()]);
  });
  afterEach(() => owner.query('rollback'));
  after(() => Promise.all([owner.end(), watcher.end()]));

  const accountPath = (): string => `${external}/accounts/${world.params['accountId']}`;
  /** How many of the product's connections a condition holds for. */
  const connections = async (condition: string): Promise<number> => {
    const { rows } = await watcher.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and (${condition})`,
    );
    return rows[0]?.count ?? -1;
  };
  /** Waits for a lock that the test holds. */
  const waiting = `wait_event_type = 'Lock'`;
  /** Waits until as many connections as are wanted do this; who waits too long has found a fault. */
  const until = async (
    condition: string,
    isSo: (count: number) => boolean,
    limitMs = 20_000,
  ): Promise<void> => {
    const since = performance.now();
    for (;;) {
      const count = await connections(condition);
      if (isSo(count)) return;
      if (performance.now() - since > limitMs) throw new Error(`${count}: ${condition}`);
      await wait(20);
    }
  };
  const isNone = (count: number): boolean => count === 0;
  /** Sends requests that the database cannot do now, and leaves when it is busy with them. */
  const leave = async (
    requests: readonly RequestInit[],
    { tenant, path } = { tenant: world.tenant, path: accountPath() },
    isBusy = waiting,
  ): Promise<void> => {
    const controller = new AbortController();
    const headers = {
      authorization: `Bearer ${tenant.token}`,
      'content-type': 'application/json',
    };
    const sent = requests.map((init) =>
      fetch(`${instance.url}${path}`, {
        ...init,
        headers,
        signal: controller.signal,
      }).catch(() => undefined),
    );
    // A tenant's share of the pool of ten.
    await until(isBusy, (count) => count >= Math.min(requests.length, 5));
    controller.abort();
    await Promise.all(sent);
  };

  it('ends in the database although its lock is held on: reads, and those that wait for a connection', async () => {
    await owner.query('begin');
    await owner.query('lock table account in access exclusive mode');
    await leave(Array.from({ length: 20 }, () => ({})));
    await until(waiting, isNone);
    await owner.query('rollback');
    await world.tenant.get(accountPath()).expect(200);
  });

  it('does not begin what is asked by one who has left meanwhile', async () => {
    // The first request of a tenant asks for its time, before it asks for accounts.
    const asked = { tenant: await instance.tenant(), path: `${external}/accounts` };
    const reader = await connect();
    try {
      await reader.query('begin');
      await reader.query('lock table account in access exclusive mode');
      await owner.query('begin');
      await owner.query('lock table tenant_clock in access exclusive mode');
      await leave([{}], asked, `${waiting} and query like '%tenant_clock%'`);
      await owner.query('rollback');
      await until(`${waiting} or query like '%tenant_clock%' and state <> 'idle'`, isNone);
    } finally {
      await reader.end();
    }
    await asked.tenant.get(asked.path).expect(200);
  });

  it('ends in the database although its lock is held on: requests behind one another on a connection', async () => {
    await owner.query('begin');
    await owner.query('lock table account in access exclusive mode');
    const connection = new RawConnection(instance.url);
    const request = [
      `GET ${accountPath()} HTTP/1.1`,
      'Host: durabill',
      `Authorization: Bearer ${world.tenant.token}`,
      '\r\n',
    ].join('\r\n');
    connection.socket.write(request.repeat(3));
    await until(waiting, (count) => count === 3);
    connection.socket.destroy();
    await until(waiting, isNone);
  });

  it('ends in the database although its lock is held on: a write, of which nothing stays', async () => {
    await owner.query('begin');
    await owner.query('select from account where id = $1 for update', [world.params['accountId']]);
    await leave([{ method: 'PUT', body: '{"billingDay":28}' }]);
    await until(waiting, isNone);
    await owner.query('rollback');
    // Its transaction is over too: nothing of it can come after this.
    await until(`state <> 'idle' and query like '%billing_day%'`, isNone);
    const { rows } = await owner.query<{ day: number }>(
      'select billing_day as day from account where id = $1',
      [world.params['accountId']],
    );
    expect(rows[0]?.day).to.not.equal(28);
    await world.tenant.put(accountPath(), { billingDay: 28 }).expect(200);
  });

  it('ends in the database although its lock is held on: a call of a tool, which is noted', async () => {
    await owner.query('begin');
    await owner.query('lock table account in access exclusive mode');
    const controller = new AbortController();
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'getAccount', arguments: { accountId: world.params['accountId'] } },
    };
    const sent = fetch(`${instance.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.tenant.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(call),
      signal: controller.signal,
    }).catch(() => undefined);
    await until(waiting, (count) => count === 1);
    controller.abort();
    await sent;
    await until(waiting, isNone);
    await owner.query('rollback');
    const ends = async (): Promise<unknown> => {
      const { rows } = await owner.query(
        'select status from tool_call where tenant_id = $1 order by started_at desc limit 1',
        [world.tenant.id],
      );
      return rows;
    };
    const deadline = performance.now() + 20_000;
    while (JSON.stringify(await ends()) !== '[{"status":"Failed"}]') {
      if (performance.now() > deadline) expect(await ends()).to.deep.equal([{ status: 'Failed' }]);
      await wait(20);
    }
  });

  it('leaves the next statement of the same connection alone', async () => {
    const { database } = instance.platform;
    const trail = { actor: 'x', requestId: 'x' };
    for (let turn = 0; turn < 30; turn += 1) {
      const db = database.forTenant(world.tenant.id, trail, 'request');
      const abandoned = db.read.raw('select pg_sleep(0.01)').then(
        () => 'done',
        () => 'canceled',
      );
      await wait(turn % 15);
      db.abandon?.();
      const next = database.forTenant(world.tenant.id, trail, 'request');
      await next.read.raw('select pg_sleep(0.005)');
      await abandoned;
    }
  });

  it('keeps connections for others, whatever one tenant does with its own', async () => {
    const neighbour = await instance.tenant();
    const { scope } = world.tenant;
    // Each of them works until the test lets go, so that no time has to be measured.
    await owner.query('select pg_advisory_lock(1)');
    const slow = Array.from({ length: 30 }, async () => {
      await scope.db.read.raw('select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)');
    });
    try {
      await until(waiting, (count) => count >= 5);
      await neighbour.get(`${external}/accounts`).expect(200);
      expect(await connections(waiting)).to.be.at.least(5);
    } finally {
      await owner.query('select pg_advisory_unlock(1)');
    }
    await Promise.all(slow);
  });

  it('lets transactions read beside themselves, as many as there are', async () => {
    const trail = { actor: 'x', requestId: 'x' };
    const turns = Array.from({ length: 40 }, async () => {
      const db = instance.platform.database.forTenant(world.tenant.id, trail, 'request');
      return db.transaction(async (trx) => {
        await trx.raw('select pg_sleep(0.01)');
        const rows = await db.read('account').select('id');
        return rows.length;
      });
    });
    const counts = await Promise.all(turns);
    expect(new Set(counts).size).to.equal(1);
  });
});
