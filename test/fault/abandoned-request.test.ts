import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { external, openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { buildWorld, type World } from '../support/http/world.js';

describe('work that nobody waits for, and shares of the pool', () => {
  let instance: TestInstance;
  let world: World;
  let owner: pg.Client;
  before(async function () {
    this.timeout(120_000);
    instance = await openTestInstance({ withWorkers: true });
    world = await buildWorld(await instance.tenant());
    owner = new pg.Client({ connectionString: instance.databaseUrl });
    await owner.connect();
  });
  afterEach(() => owner.query('rollback'));
  after(async () => {
    await owner.end();
    await instance.close();
  });

  const accountPath = (): string => `${external}/accounts/${world.params['accountId']}`;
  /** What the product's connections wait for or work on. */
  const busy = async (): Promise<number> => {
    const { rows } = await owner.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and (wait_event_type = 'Lock' or query like '%pg_sleep%' and state = 'active')`,
    );
    return rows[0]?.count ?? -1;
  };
  const until = async (isSo: (count: number) => boolean, limitMs: number): Promise<void> => {
    const since = performance.now();
    for (let count = await busy(); !isSo(count); count = await busy()) {
      if (performance.now() - since > limitMs) throw new Error(`${count} are busy`);
      await wait(20);
    }
  };
  const isNone = (count: number): boolean => count === 0;
  /** Sends a request that the database cannot do now, and leaves. */
  const leave = async (requests: readonly RequestInit[]): Promise<void> => {
    const controller = new AbortController();
    const headers = {
      authorization: `Bearer ${world.tenant.token}`,
      'content-type': 'application/json',
    };
    const sent = requests.map((init) =>
      fetch(`${instance.url}${accountPath()}`, {
        ...init,
        headers,
        signal: controller.signal,
      }).catch(() => undefined),
    );
    // A tenant's share of the pool of ten.
    await until((count) => count >= Math.min(requests.length, 5), 4_000);
    controller.abort();
    await Promise.all(sent);
  };

  it('ends in the database within a second: reads, and those that wait for a connection', async () => {
    await owner.query('begin');
    await owner.query('lock table account in access exclusive mode');
    await leave(Array.from({ length: 20 }, () => ({})));
    await until(isNone, 1_000);
    await owner.query('rollback');
    await world.tenant.get(accountPath()).expect(200);
  });

  it('ends in the database within a second: a write, of which nothing stays', async () => {
    await owner.query('begin');
    await owner.query('select from account where id = $1 for update', [world.params['accountId']]);
    await leave([{ method: 'PUT', body: '{"billingDay":28}' }]);
    await until(isNone, 1_000);
    await owner.query('rollback');
    await wait(100);
    const { rows } = await owner.query<{ day: number }>(
      'select billing_day as day from account where id = $1',
      [world.params['accountId']],
    );
    expect(rows[0]?.day).to.not.equal(28);
    await world.tenant.put(accountPath(), { billingDay: 28 }).expect(200);
  });

  it('ends in the database within a second: a call of a tool, which is noted', async () => {
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
    await until((count) => count === 1, 4_000);
    controller.abort();
    await sent;
    await until(isNone, 1_000);
    await owner.query('rollback');
    const ends = async (): Promise<unknown> => {
      const { rows } = await owner.query(
        'select status from tool_call where tenant_id = $1 order by started_at desc limit 1',
        [world.tenant.id],
      );
      return rows;
    };
    for (let tries = 0; tries < 50; tries += 1) {
      if (JSON.stringify(await ends()) === '[{"status":"Failed"}]') return;
      await wait(20);
    }
    expect(await ends()).to.deep.equal([{ status: 'Failed' }]);
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
    const slow = Array.from({ length: 30 }, () => scope.db.read.raw('select pg_sleep(0.5)'));
    await wait(100);
    const since = performance.now();
    await neighbour.get(`${external}/accounts`).expect(200);
    expect(performance.now() - since).to.be.below(450);
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
