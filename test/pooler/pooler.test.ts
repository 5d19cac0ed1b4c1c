import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type { Knex } from 'knex';
import pg from 'pg';
import { databaseUrlsOf } from '../../src/process/prepare-database.js';
import { listenTo } from '../../src/platform/database/listen.js';
import { openDatabase, type Database } from '../../src/platform/database/database.js';
import type { Logger } from '../../src/platform/log.js';
import { startPooler, throughPooler, type Pooler } from '../support/servers/pooler.js';
import { createTestDatabase } from '../support/servers/servers.js';

const trail = (actor: string) => ({ actor, requestId: `of ${actor}` });

describe('a real PgBouncer in transaction mode', () => {
  let direct: string;
  let pooled: string;
  let pooler: Pooler;
  let database: Database;
  let observer: pg.Client;
  before(async () => {
    direct = await createTestDatabase();
    // Two sessions for ten connections of ours: each transaction meets a session of somebody else.
    pooler = await startPooler(direct, { poolSize: 2 });
    pooled = throughPooler(direct, pooler.port);
    database = openDatabase(pooled, 10);
    observer = new pg.Client({ connectionString: direct });
    await observer.connect();
    await observer.query(
      `insert into tenant (id, name) select 't' || i, 't' || i from generate_series(0, 9) as i`,
    );
  });
  after(async () => {
    await database.close();
    await observer.end();
    await pooler.stop();
  });

  const seen = `current_setting('app.tenant_id') as "tenant", current_setting('app.actor') as "actor",
    current_setting('role') as "role", current_setting('statement_timeout') as "statementTimeout"`;

  it('gives each statement and transaction its own tenant, actor, role and time limits', async () => {
    const backends = new Set<number>();
    const work = Array.from({ length: 300 }, async (_, index) => {
      const tenant = `t${index % 10}`;
      const actor = `actor ${index}`;
      const db = database.forTenant(tenant, trail(actor), 'request');
      const sql = `select ${seen}, pg_backend_pid() as "pid"`;
      const [read, write] = await Promise.all([
        db.read.raw(sql),
        db.transaction(async (trx) => {
          await trx.raw('select 1');
          return trx.raw(sql);
        }),
      ]);
      const expected = { tenant, actor, role: 'durabill_app' };
      for (const [{ rows }, statementTimeout] of [
        [read, '5s'],
        [write, '30s'],
      ] as [{ rows: { pid: number }[] }, string][]) {
        const { pid = 0, ...settings } = rows[0] ?? {};
        backends.add(pid);
        expect(settings).to.deep.equal({ ...expected, statementTimeout });
      }
    });
    await Promise.all(work);
    expect(backends.size).to.equal(2);
  });

  it('gives statements that have a name to sessions that never heard of it', async () => {
    // One connection of ours, whose statements meet one session after the other.
    const own = openDatabase(pooled, 1);
    const sessionOf = async (): Promise<number | undefined> => {
      const { rows } = await own
        .forTenant('t1', trail('x'), 'request')
        .read.raw<{ rows: { pid: number }[] }>('select pg_backend_pid() as "pid"')
        .options({ name: 'named' });
      return rows[0]?.pid;
    };
    const first = await sessionOf();
    const second = await database
      .forTenant('t2', trail('x'), 'request')
      .transaction(async (trx) => {
        // PgBouncer gives the session that was used last.
        await trx.raw('select 1');
        return sessionOf();
      });
    expect(second).not.to.equal(first);
    await own.close();
  });

  it('does so in transactions, and where there is no tenant', async () => {
    const own = openDatabase(pooled, 1);
    const named = async (db: Knex): Promise<number | undefined> => {
      const { rows } = await db
        .raw<{ rows: { pid: number }[] }>('select pg_backend_pid() as "pid"')
        .options({ name: 'named too' });
      return rows[0]?.pid;
    };
    const ways = [
      () => own.forTenant('t1', trail('x'), 'request').transaction(named),
      () => named(own.platform),
    ];
    for (const ask of ways) {
      const first = await ask();
      const second = await database
        .forTenant('t2', trail('x'), 'request')
        .transaction(async (trx) => {
          await trx.raw('select 1');
          return ask();
        });
      expect(second).not.to.equal(first);
    }
    await own.close();
  });

  it('leaves nothing in a session for whoever comes next, after errors neither', async () => {
    const db = database.forTenant('t1', trail('x'), 'request');
    const failures = [
      () => db.read.raw('select 1 / 0'),
      () => db.transaction((trx) => trx.raw('select 1 / 0')),
      () => db.transaction(() => Promise.reject(new Error('of our own'))),
      () => db.read.raw('select pg_sleep(10)').timeout(50, { cancel: false }),
    ];
    for (const fail of failures) {
      const failure: unknown = await Promise.resolve(fail()).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
    }
    const client = new pg.Client({ connectionString: pooled });
    await client.connect();
    for (let turn = 0; turn < 10; turn += 1) {
      const { rows } = await client.query(
        `select current_setting('app.tenant_id', true) as "tenant", current_user = 'durabill_app' as "isBound",
           current_setting('statement_timeout') as "statementTimeout"`,
      );
      expect(rows[0]).to.deep.include({ isBound: false, statementTimeout: '0' });
      expect(rows[0]?.tenant ?? '').to.equal('');
    }
    await client.end();
  });

  it('passes cancel requests on to the statement that was abandoned, and to no other', async () => {
    const abandoned = database.forTenant('t1', trail('left'), 'request');
    const endings = Array.from({ length: 2 }, () =>
      abandoned.read.raw('select pg_sleep(60)').then(
        () => 'done',
        (error: { code?: string }) => error.code,
      ),
    );
    const sleeping = `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and query like '%pg_sleep(60)%' and state = 'active'
        and pid <> pg_backend_pid()`;
    const count = async (): Promise<number> =>
      (await observer.query<{ count: number }>(sleeping)).rows[0]?.count ?? -1;
    while ((await count()) < 2) await wait(10);
    abandoned.abandon?.();
    expect(await Promise.all(endings)).to.deep.equal(['57014', '57014']);
    // A session says that it is idle after it has told its client of the error.
    while ((await count()) > 0) await wait(10);
    // Who shares the sessions with those that leave is not hit.
    for (let turn = 0; turn < 60; turn += 1) {
      const leaving = database.forTenant('t2', trail('left'), 'request');
      const left = leaving.read.raw('select pg_sleep(0.01)').then(
        () => 'done',
        () => 'canceled',
      );
      const staying = Array.from({ length: 3 }, () =>
        database.forTenant('t3', trail('stays'), 'request').read.raw('select pg_sleep(0.005)'),
      );
      await wait(turn % 15);
      leaving.abandon?.();
      await left;
      await Promise.all(staying);
    }
  });

  it('is told from PostgreSQL, which is asked for where a session is needed', async () => {
    const config = { databaseUrl: pooled, databaseOwnerUrl: undefined, dataDir: '/nowhere' };
    const refused = await databaseUrlsOf(pooled, { ...config, directDatabaseUrl: undefined }).catch(
      (error: Error) => error.message,
    );
    expect(refused).to.equal(
      'DATABASE_URL is the address of a connection pooler: set DIRECT_DATABASE_URL to PostgreSQL itself, for notifications and migrations.',
    );
    expect(await databaseUrlsOf(pooled, { ...config, directDatabaseUrl: direct })).to.deep.equal({
      owner: direct,
      login: pooled,
    });
    const alone = { ...config, databaseUrl: direct, directDatabaseUrl: undefined };
    expect(await databaseUrlsOf(direct, alone)).to.deep.equal({ owner: direct, login: direct });
  });

  it('carries notifications that its transactions send to connections that listen directly', async () => {
    const told: string[] = [];
    const log = { warn: () => undefined, debug: () => undefined } as unknown as Logger;
    let isTold: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (isTold = resolve));
    const stop = await listenTo([{ url: direct, mayBeAway: false }], log)(
      'pooler_test',
      (payload) => {
        told.push(payload);
        if (payload !== '') isTold();
      },
    );
    await database.platform.raw(`select pg_notify('pooler_test', 'heard')`);
    await arrived;
    await stop();
    expect(told).to.deep.equal(['', 'heard']);
  });
});
