import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import {
  migrateDatabase,
  migrationsDirectory,
  rollbackDatabase,
} from '../../src/platform/database/migrations.js';
import { runPendingMigrations } from '../../src/platform/database/run-migrations.js';
import {
  createAccount,
  createService,
  summary,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { fillFacts } from '../support/servers/fill.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { createEmptyDatabase } from '../support/servers/servers.js';

/** The migrations that this is about, with the one that changes a function of theirs. */
const ours = /\/(?:20261209090[0-4]00|20270119000000)-/;
const filled = 'filled';
const streaming = 'streaming';
const tables = ['usage_event', 'rated_transaction'];

/** spec/beyond.md R110, R111. */
describe('the migration that divides facts of usage by month', function () {
  this.timeout(120_000);
  let databaseUrl = '';
  let others = '';
  let client: pg.Client;
  let instance: TestInstance;
  before(async () => {
    databaseUrl = await createEmptyDatabase();
    // All migrations but those of the partitions: what runs is this version, which knows of partitions
    // no more than to make them ahead, as the one before.
    others = await mkdtemp(join(tmpdir(), 'durabill-migrations-'));
    await cp(migrationsDirectory, others, { recursive: true, filter: (path) => !ours.test(path) });
    await writeFile(join(others, 'package.json'), '{"type":"module"}');
    // The second migration takes names of countries from a package.
    await symlink(join(migrationsDirectory, '../node_modules'), join(others, 'node_modules'));
    await runPendingMigrations(databaseUrl, { directory: others });
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(
      `insert into tenant (id, name, plan, request_limit)
       select id, id, 'enterprise', 1000000000 from unnest($1::text[]) as id`,
      [[filled, streaming]],
    );
    // 10,000 events of October 2026, each with a charge of 1.25.
    await fillFacts(client, { tenantId: filled, accounts: 10, events: 10_000, services: 2 });
    instance = await openTestInstance({
      withWorkers: true,
      route: () => Promise.resolve(databaseUrl),
    });
  });
  after(async () => {
    await instance.close();
    await client.end();
    await rm(others, { recursive: true, force: true });
  });

  const rowsOf = async <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await client.query(sql, values)).rows as T[];

  /** Count and checksum of each table's rows of a tenant. */
  const state = async (tenantId: string): Promise<unknown> => {
    const states: Record<string, unknown> = {};
    for (const table of tables) {
      [states[table]] = await rowsOf(
        `select count(*)::int as rows, sum(hashtextextended(t::text, 0)::numeric) as sum
         from ${table} as t where tenant_id = $1`,
        [tenantId],
      );
    }
    return states;
  };
  const namesOf = (kind: 'index' | 'trigger', table: string) =>
    rowsOf<{ name: string }>(
      kind === 'index'
        ? `select relname as name from pg_index join pg_class on oid = indexrelid
           where indrelid = $1::regclass order by 1`
        : `select tgname as name from pg_trigger
           where tgrelid = $1::regclass and not tgisinternal order by 1`,
      [table],
    );
  const allNames = async (): Promise<unknown[]> => {
    const names: unknown[] = [];
    for (const table of tables) {
      names.push(await namesOf('index', table), await namesOf('trigger', table));
    }
    return names;
  };
  const fileOf = async (table: string): Promise<unknown> => {
    const [found] = await rowsOf<{ file: number }>(
      'select pg_relation_filenode($1::regclass) as file',
      [table],
    );
    return found?.file;
  };

  it('copies nothing, loses nothing and doubles nothing while usage streams in', async () => {
    const tenant = await instance.tenant(undefined, streaming);
    await createAccount(tenant, 'acme');
    const service = await createService(tenant, 'API');
    const before = await state(filled);
    const names = await allNames();
    const files = [await fileOf('usage_event'), await fileOf('rated_transaction')];

    let sent = 0;
    let isMigrated = false;
    const streams = Array.from({ length: 4 }, async () => {
      while (!isMigrated) {
        const messages = Array.from({ length: 25 }, () => ({ message: usage('acme', service) }));
        await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
        sent += messages.length;
        await wait(20);
      }
    });
    while ((await summary(tenant)).rated === 0) await wait(20);
    await migrateDatabase(databaseUrl);
    isMigrated = true;
    await Promise.all(streams);
    expect(await waitUntilRated(tenant, sent)).to.deep.equal({
      accepted: sent,
      rated: sent,
      duplicate: 0,
      rejected: 0,
      pending: 0,
    });
    const [charged] = await rowsOf<{ count: number; amount: string }>(
      `select count(*)::int as count, sum(amount)::text as amount from rated_transaction
       where tenant_id = $1`,
      [tenant.id],
    );
    // 100 calls at 0.01 each: every event costs 1.
    expect(charged?.count).to.equal(sent);
    expect(Number(charged?.amount)).to.equal(sent);

    expect(await state(filled)).to.deep.equal(before);
    expect([
      await fileOf('usage_event_before'),
      await fileOf('rated_transaction_before'),
    ]).to.deep.equal(files);
    expect(await allNames()).to.deep.equal(names);
    expect(await namesOf('trigger', 'usage_event_before')).to.deep.equal([]);
  });

  it('has later months in partitions of their own, protected like the whole', async () => {
    const parts = await rowsOf<{ name: string; isFirst: boolean; secured: boolean }>(
      `select known.name, known.first_id is null as "isFirst",
         relrowsecurity and relforcerowsecurity as secured
       from usage_partitions() as known join pg_class on relname = known.name
       where known.parent = 'usage_event'`,
    );
    expect(parts.map(({ isFirst }) => isFirst)).to.deep.equal(parts.map((_part, at) => at === 0));
    expect(parts.every(({ secured }) => secured)).to.equal(true);
    expect(parts.length).to.be.greaterThan(2);
    await client.query(`select make_usage_partitions('2031-05-01Z', '2031-05-01Z')`);
    await client.query(
      `insert into usage_event (tenant_id, id, partition, "offset", status, run_id, received_at)
       values ($1, uuid_at('2031-05-31 23:59:59.999Z'), 0, 999999, 'rejected', gen_random_uuid(),
         '2031-05-31 23:59:59.999Z')`,
      [filled],
    );
    const [late] = await rowsOf<{ name: string }>(
      `select tableoid::regclass::text as name from usage_event
       where tenant_id = $1 and id >= uuid_at('2031-01-01Z')`,
      [filled],
    );
    expect(late?.name).to.equal('usage_event_203105');
  });

  it('goes down with what came since, and up again', async () => {
    const before = await state(filled);
    const names = await namesOf('index', 'usage_event');
    const own = (await readdir(migrationsDirectory)).filter((name) => ours.test(`/${name}`));
    for (const name of own.sort().reverse()) {
      expect(await rollbackDatabase(databaseUrl)).to.equal(name);
    }
    expect(await state(filled)).to.deep.equal(before);
    expect(await rowsOf(`select from pg_class where relname like 'usage_event_2%'`)).to.deep.equal(
      [],
    );
    expect(await namesOf('index', 'usage_event')).to.deep.equal(names);
    await migrateDatabase(databaseUrl);
    const [whole] = await rowsOf<{ count: number }>(
      'select count(*)::int as count from rated_transaction where tenant_id = $1',
      [filled],
    );
    expect(whole?.count).to.equal(10_000);
    // The event of 2031 is in the first partition now, which reaches up to it.
    const [first] = await rowsOf<{ bound: boolean }>(
      `select end_id = uuid_at('2031-06-01Z') as bound from usage_partitions()
       where parent = 'usage_event' and first_id is null`,
    );
    expect(first?.bound).to.equal(true);
    expect(await state(filled)).to.deep.equal(before);
    expect((await summary(await instance.tenant(undefined, filled))).rated).to.equal(10_000);
  });
});
