import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { copyTenantRow, removeTenantRow } from '../../src/access/cells/tenant-row.js';
import { flipTenant } from '../../src/platform/cells/move/flip-tenant.js';
import {
  beginCopy,
  endCopy,
  isCopyTrue,
  readCopy,
  takeBack,
  type MovePlace,
} from '../../src/platform/cells/move/move-tenant.js';
import { changesName, moveName } from '../../src/platform/cells/move/replication.js';
import { accountIdOf, fillTenant } from '../support/servers/fill.js';
import { startTestCell, type StoppableCell } from '../support/servers/cells.js';
import { asOwner } from '../support/servers/rows.js';
import { createTestDatabase } from '../support/servers/servers.js';

/** More than are compared again while the tenant waits. */
const accounts = 6_000;
const events = 2_000;
/** Ids that are older than any that the tenant was given. */
const lateId = '01000000-0000-7000-8000-000000000001';

/** spec/platform.md R128. Two databases of one server, without the product. */
describe('the rows of a tenant that is moved', function () {
  this.timeout(300_000);
  let place: MovePlace;
  let source: pg.Client;
  let target: pg.Client;
  beforeEach(async () => {
    const tenantId = `moved-${randomBytes(4).toString('hex')}`;
    place = {
      tenantId,
      sourceUrl: await createTestDatabase(),
      targetUrl: await createTestDatabase(),
    };
    source = new pg.Client({ connectionString: place.sourceUrl });
    target = new pg.Client({ connectionString: place.targetUrl });
    await Promise.all([source.connect(), target.connect()]);
    await source.query(`insert into tenant (id, name) values ($1, 'Moved')`, [tenantId]);
    await fillTenant(source, { tenantId, accounts, events, services: 3 });
    await beginCopy(place, copyTenantRow);
    for (let isCopied = false; !isCopied; await wait(50)) {
      const { tables, copied } = await readCopy(place);
      isCopied = tables > 0 && copied === tables;
    }
  });
  afterEach(async () => {
    await Promise.all([source.end(), target.end()]);
    await endCopy(place);
  });

  const flip = () => {
    let isFlipped = false;
    return flipTenant(place, {
      isFlipped: () => Promise.resolve(isFlipped),
      flip: async (check) => {
        await check();
        isFlipped = true;
      },
      unlessFlipped: async (work) => {
        if (!isFlipped) await work();
      },
    });
  };

  /** In the copy alone, as if replication had gone wrong. */
  const spoil = async (sql: string, ...values: unknown[]): Promise<void> => {
    await target.query('set session_replication_role = replica');
    const { rowCount } = await target.query(sql, [place.tenantId, ...values]);
    expect(rowCount, 'rows that were spoiled').to.equal(1);
  };
  const change = (sql: string, ...values: unknown[]) =>
    source.query(sql, [place.tenantId, ...values]);

  const renameAll = `update account set name = name || ' renamed' where tenant_id = $1`;
  const rename = `update account set name = 'other' where tenant_id = $1 and id = $2`;
  /** An event that waited for long, or was sent in a sandbox: what its id says is long ago. */
  const addLate = `insert into usage_event
    select (jsonb_populate_record(event, jsonb_build_object(
      'id', $2::text, 'external_transaction_id', $2::text))).*
    from usage_event as event where tenant_id = $1 order by event.id desc limit 1`;
  const slots = `select from pg_replication_slots
    where database in (select current_database()) and slot_name like 'durabill_move_%'`;

  it('are compared once, and again where they have changed since, however old they are', async () => {
    expect(await isCopyTrue(place)).to.equal(true);
    await change(addLate, lateId);
    await change(rename, accountIdOf(3));
    await change('delete from usage_list where tenant_id = $1');
    expect(await flip()).to.be.above(0);
    const { rows } = await target.query<{ late: number; renamed: number; lists: number }>(
      `select (select count(*)::int from usage_event where tenant_id = $1 and id = $2) as late,
         (select count(*)::int from account where tenant_id = $1 and name = 'other') as renamed,
         (select count(*)::int from usage_list where tenant_id = $1) as lists`,
      [place.tenantId, lateId],
    );
    expect(rows[0]).to.deep.equal({ late: 1, renamed: 1, lists: 0 });
  });

  it('do not leave before they have been compared', async () => {
    const failure = await flip().catch((error: unknown) => String(error));
    expect(failure).to.equal(
      'MoveError: Its rows were not compared, or by another version: start the move again.',
    );
    expect((await source.query('select from tenant_fence')).rowCount).to.equal(0);
  });

  it('are compared while they change all the time', async () => {
    let isStopped = false;
    const changing = (async () => {
      for (let n = 0; !isStopped; n += 1) {
        await change(rename, accountIdOf(n % accounts));
        await change('delete from account where tenant_id = $1 and id = $2', accountIdOf(n + 500));
        await change(addLate, lateId.replace(/\d{6}$/, String(n).padStart(6, '0')));
      }
    })();
    try {
      for (let turn = 0; turn < 5; turn += 1) expect(await isCopyTrue(place)).to.equal(true);
    } finally {
      isStopped = true;
      await changing;
    }
    expect(await flip()).to.be.above(0);
  });

  // What PostgreSQL does with such a transaction takes a statement's hold on the pages that it reads.
  it('are compared where others change tables while changes begin to be kept', async () => {
    const session = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: place.sourceUrl });
      await client.connect();
      return client;
    };
    const [first, second, third] = await Promise.all([session(), session(), session()]);
    const begin = async (client: pg.Client): Promise<void> => {
      await client.query('begin');
      await client.query('select pg_current_xact_id()');
    };
    const untilWaitedFor = async (client: pg.Client): Promise<void> => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const waits = `select from pg_stat_activity where application_name = $1
        and query like '%pg_create_logical_replication_slot%' and $2 = any (pg_blocking_pids(pid))`;
      for (let count = 0; count === 0; await wait(20)) {
        const values = [moveName(place.tenantId), rows[0]?.pid];
        count = (await target.query(waits, values)).rowCount ?? 0;
      }
    };
    await begin(first);
    const comparing = isCopyTrue(place).catch((error: unknown) => String(error));
    await untilWaitedFor(first);
    await begin(second);
    await first.query('commit');
    await untilWaitedFor(second);
    await third.query('create table other_table (id int)');
    await second.query('commit');
    const answer = await comparing;
    await Promise.all([first, second, third].map((client) => client.end()));
    expect(answer).to.equal(true);
  });

  it('end the move where they differ from the start, in a row that is too much, too', async () => {
    await spoil(rename, accountIdOf(7));
    await spoil(addLate, lateId);
    const failure = await isCopyTrue(place).catch((error: unknown) => String(error));
    const text = '(\\d+) rows, checksum -?\\d+';
    const both = (table: string): string => `${table} has ${text} here and ${text} there`;
    const told = new RegExp(
      `The copy is not what it is made from: ${both('account')}; ${both('usage_event')}\\.$`,
    ).exec(String(failure));
    expect(told?.slice(1)).to.deep.equal([accounts, accounts, events, events + 1].map(String));
  });

  for (const [what, sql, id, table] of [
    ['that came late', addLate, lateId, 'usage_event'],
    ['that has changed since', rename, accountIdOf(5), 'account'],
  ] as const) {
    it(`end the move where one ${what} did not come as it is, and leave the tenant where it was`, async () => {
      expect(await isCopyTrue(place)).to.equal(true);
      await change(sql, id);
      for (let count = 0; count === 0; await wait(20)) {
        const found = `select count(*)::int as count from ${table}
          where tenant_id = $1 and id = $2 and to_jsonb(${table}) ->> 'name' is not distinct from $3`;
        const name = table === 'account' ? 'other' : null;
        const { rows } = await target.query<{ count: number }>(found, [place.tenantId, id, name]);
        count = rows[0]?.count ?? 0;
      }
      await spoil(`delete from ${table} where tenant_id = $1 and id = $2`, id);
      const failure = await flip().catch((error: unknown) => String(error));
      expect(failure).to.match(new RegExp(`made from: ${table} has 1 rows, .* and 0 rows`));
      const { rowCount } = await source.query('select from tenant_fence');
      expect(rowCount).to.equal(0);
      await takeBack(place, removeTenantRow);
      expect((await source.query(slots)).rowCount).to.equal(0);
      const { rows } = await target.query('select from account where tenant_id = $1', [
        place.tenantId,
      ]);
      expect(rows).to.deep.equal([]);
    });
  }

  it('are compared before the tenant waits where many have changed, and not once more', async () => {
    expect(await isCopyTrue(place)).to.equal(true);
    await change(renameAll);
    // The attempt narrows down what is left; something under way keeps it from ending.
    await source.query('begin');
    await source.query('select pg_advisory_xact_lock_shared(tenant_fence_key($1))', [
      place.tenantId,
    ]);
    expect(await flip()).to.equal(undefined);
    await source.query('commit');
    const { rows } = await source.query<{ left: number }>(
      `select count(*)::int as left from pg_logical_slot_peek_binary_changes(
         $1, null, null, 'proto_version', '1', 'publication_names', $2)`,
      [changesName(place.tenantId), changesName(place.tenantId)],
    );
    expect(rows[0]?.left).to.be.within(1, 100);
    expect(await flip()).to.be.above(0);
  });

  it('are moved by one attempt, also where another was taken for dead and goes on', async () => {
    expect(await isCopyTrue(place)).to.equal(true);
    let isFlipped = false;
    const fences: unknown[] = [];
    const directory = {
      isFlipped: () => Promise.resolve(isFlipped),
      flip: async (check: () => Promise<void>) => {
        await check();
        const { rows } = await source.query('select state from tenant_fence');
        fences.push(rows);
        isFlipped = true;
      },
      unlessFlipped: async (work: () => Promise<void>) => {
        if (!isFlipped) await work();
      },
    };
    const pauses = await Promise.all([1, 2, 3].map(() => flipTenant(place, directory)));
    expect(pauses.every((pause) => pause !== undefined)).to.equal(true);
    expect(fences).to.deep.equal([[{ state: 'paused' }]]);
    const { rows } = await source.query('select state from tenant_fence');
    expect(rows).to.deep.equal([{ state: 'moved' }]);
    await endCopy(place);
    expect((await source.query(slots)).rowCount).to.equal(0);
    expect((await source.query('select from pg_publication')).rowCount).to.equal(0);
  });

  it('stay where they are when the move is taken back while they are compared', async () => {
    // What is under way keeps the comparison from beginning.
    await source.query('begin');
    await change(rename, accountIdOf(1));
    const comparing = isCopyTrue(place).catch((error: unknown) => String(error));
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock'
      and query like '%pg_create_logical_replication_slot%' and application_name = $1`;
    for (let count = 0; count === 0; await wait(20)) {
      count = (await target.query(waits, [moveName(place.tenantId)])).rowCount ?? 0;
    }
    await takeBack(place, removeTenantRow);
    expect(await comparing).to.include('terminat');
    await source.query('commit');
    const late = await isCopyTrue(place).catch((error: unknown) => String(error));
    expect(late).to.equal('MoveError: The move was taken back, or has ended.');
    expect((await source.query(slots)).rowCount).to.equal(0);
    expect((await source.query('select from pg_publication')).rowCount).to.equal(0);
  });

  it('are found to differ where many have changed', async () => {
    expect(await isCopyTrue(place)).to.equal(true);
    await change(renameAll);
    for (let count = 0; count < accounts; await wait(50)) {
      const { rows } = await target.query<{ count: number }>(
        `select count(*)::int as count from account where tenant_id = $1 and name like '% renamed'`,
        [place.tenantId],
      );
      count = rows[0]?.count ?? 0;
    }
    await spoil(rename, accountIdOf(5_900));
    const failure = await flip().catch((error: unknown) => String(error));
    expect(failure).to.match(/made from: account has 6000 rows, .* and 6000 rows/);
  });
});

/** A server of its own: all of its slots are taken. */
describe('the rows of a tenant whose server has no slot left', function () {
  this.timeout(300_000);
  let cell: StoppableCell;
  before(async () => {
    cell = await startTestCell('eu1');
  });
  after(() => cell.remove());

  it('are not copied, and the move ends', async () => {
    const targetUrl = await createTestDatabase();
    const place = { tenantId: 'moved', sourceUrl: cell.url, targetUrl };
    await asOwner(cell.url, async (owner) => {
      await owner.query(`insert into tenant (id, name) values ('moved', 'Moved')`);
      await owner.query(
        `select pg_create_physical_replication_slot('taken_' || n)
         from generate_series(1, current_setting('max_replication_slots')::int) as n`,
      );
    });
    const failure = await beginCopy(place, copyTenantRow).catch((error: unknown) => String(error));
    expect(failure).to.equal(
      'MoveError: The server that the tenant leaves has no replication slot left: move fewer tenants at once, or raise max_replication_slots there.',
    );
  });
});
