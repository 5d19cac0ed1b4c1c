import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { databaseProblem } from '../../src/commands/rules/database-problem.js';
import { timeLimits, type WorkKind } from '../../src/platform/database/time-limits.js';
import { external, openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { buildWorld, type World } from '../support/http/world.js';

describe('time limits in the database', function () {
  // Limits of seconds are waited for.
  this.timeout(240_000);
  let instance: TestInstance;
  let world: World;
  let owner: pg.Client;
  const quick = { readMs: 400, writeMs: 900, lockMs: 5_000, idleMs: 400, transactionMs: 5_000 };
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      timeLimits: { request: quick },
    });
    world = await buildWorld(await instance.tenant());
    owner = new pg.Client({ connectionString: instance.databaseUrl });
    await owner.connect();
  });
  after(async () => {
    await owner.end();
    await instance.close();
  });

  /** Does the work while somebody else holds a lock. */
  const whileLocked = async (sql: string, work: () => Promise<void>): Promise<void> => {
    await owner.query('begin');
    await owner.query(sql);
    try {
      await work();
    } finally {
      await owner.query('rollback');
    }
  };

  const accountPath = (): string => `${external}/accounts/${world.params['accountId']}`;
  const lockAccount = (): string =>
    `select from account where id = '${world.params['accountId']}' for update`;

  it('differ by the kind of work, inside and outside of transactions', async () => {
    const trail = { actor: 'x', requestId: 'x' };
    const { tenantId } = world.tenant.scope;
    const other = await openTestInstance();
    const settings = [
      'statement_timeout',
      'lock_timeout',
      'idle_in_transaction_session_timeout',
      'transaction_timeout',
    ];
    const show = settings.map((name) => `current_setting('${name}') as ${name}`).join(', ');
    const seen: string[] = [];
    // There and back again: a connection that changes hands changes its limits.
    for (const kind of ['request', 'step', 'batch', 'request'] as const satisfies WorkKind[]) {
      const db = other.platform.database.forTenant(tenantId, trail, kind);
      const read = await db.read.raw(`select ${show}`);
      const write = await db.transaction((trx) => trx.raw(`select ${show}`));
      for (const { rows } of [read, write] as { rows: Record<string, string>[] }[]) {
        seen.push(`${kind} ${Object.values(rows[0] ?? {}).join(' ')}`);
      }
    }
    await other.close();
    expect(seen).to.deep.equal([
      'request 5s 20s 30s 2min',
      'request 30s 20s 30s 2min',
      'step 30s 20s 30s 2min',
      'step 30s 20s 30s 2min',
      'batch 10min 5min 5min 30min',
      'batch 10min 5min 5min 30min',
      'request 5s 20s 30s 2min',
      'request 30s 20s 30s 2min',
    ]);
  });

  it('end a read: 503 with Retry-After, in the body of its family', async () => {
    await whileLocked('lock table account in access exclusive mode', async () => {
      const { body, headers } = await world.tenant.get(accountPath()).expect(503);
      expect(headers['retry-after']).to.equal('1');
      expect(body).to.include({ status: 503, error: 'Service Unavailable' });
      expect(body.message).to.include('took longer than the database may work');
    });
    await world.tenant.get(accountPath()).expect(200);
  });

  it('end a write, of which nothing stays', async () => {
    const { body: before } = await world.tenant.get(accountPath()).expect(200);
    await whileLocked(lockAccount(), async () => {
      const { headers } = await world.tenant.put(accountPath(), { billingDay: 27 }).expect(503);
      expect(headers['retry-after']).to.equal('1');
    });
    const { body: after } = await world.tenant.get(accountPath()).expect(200);
    expect(after.data).to.deep.equal(before.data);
    await world.tenant.put(accountPath(), { billingDay: 27 }).expect(200);
  });

  it('end a transaction that does nothing, and give up its locks', async () => {
    const trail = { actor: 'x', requestId: 'x' };
    const db = instance.platform.database.forTenant(world.tenant.id, trail, 'request');
    const failure: unknown = await db
      .transaction(async (trx) => {
        await trx('account').where({ id: world.params['accountId'] }).update({ billingDay: 3 });
        await wait(1_000);
        await trx('account').where({ id: world.params['accountId'] }).update({ billingDay: 4 });
      })
      .catch((error: unknown) => error);
    expect(databaseProblem(failure)?.status).to.equal(503);
    const { rows } = await owner.query('select billing_day from account where id = $1', [
      world.params['accountId'],
    ]);
    expect(rows).to.deep.equal([{ billing_day: 27 }]);
  });

  it('end a wait for a lock: 503, and others go on', async () => {
    const limits = { ...timeLimits.request, lockMs: 300 };
    const other = await openTestInstance({
      withWorkers: true,
      timeLimits: { request: limits },
    });
    const { tenant, params } = await buildWorld(await other.tenant());
    const client = new pg.Client({ connectionString: other.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('select from account where id = $1 for update', [params['accountId']]);
    const path = `${external}/accounts/${params['accountId']}`;
    const { body } = await tenant.put(path, { billingDay: 27 }).expect(503);
    expect(body.message).to.include('Others are changing the same records');
    await client.end();
    await tenant.put(path, { billingDay: 27 }).expect(200);
    await other.close();
  });

  it('end a flow whose step takes too long, as what it is', async () => {
    const step = { ...timeLimits.step, writeMs: 300 };
    const other = await openTestInstance({ withWorkers: true, timeLimits: { step } });
    const { tenant, params } = await buildWorld(await other.tenant());
    const client = new pg.Client({ connectionString: other.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('select from account where id = $1 for update', [params['accountId']]);
    const input = { ID_Account: params['accountId'] };
    const { body } = await tenant
      .post(`${external}/run/billing/account/approve`, input)
      .expect(503);
    await client.query('rollback');
    const { rows } = await client.query('select status from execution where id = $1', [
      body.flowExecutionId,
    ]);
    await client.end();
    expect(rows).to.deep.equal([{ status: 'failed' }]);
    await other.close();
  });
});
