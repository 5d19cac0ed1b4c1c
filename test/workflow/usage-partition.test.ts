import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { keepPartitions } from '../../src/activities/usage/usage-partition.js';
import { parseRecords, rateUsage } from '../../src/commands/usage/rate-usage.js';
import { newId } from '../../src/kernel/id.js';
import { chargeId, usageEventId } from '../../src/messages/usage-log.js';
import { makeUsagePartitions } from '../../src/models/usage/finding/usage-partition.js';
import { createAccount, createService, usage } from '../support/billing/usage.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';

/** spec/beyond.md R110. */
describe('partitions of usage by month', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let service = '';
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
    await createAccount(tenant, 'acme');
    service = await createService(tenant, 'API');
  });
  after(() => instance.close());

  const rows = <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
    asOwner(instance.databaseUrl, async (client) => (await client.query(sql, values)).rows as T[]);
  const partsOf = (ids: readonly string[]) =>
    rows<{ events: string; charges: string }>(
      `select event.tableoid::regclass::text as events, charge.tableoid::regclass::text as charges
       from usage_event as event join rated_transaction as charge
         on charge.tenant_id = event.tenant_id and charge.usage_event_id = event.id
       where event.id = any($1) order by event.id`,
      [ids],
    );

  /** Rates one event for each time of receipt, from an offset on; says what was made late. */
  const rateAt = async (first: number, ...times: string[]) => {
    let late = 0;
    const records = times.map((time, index) => ({
      offset: first + index,
      key: null,
      orgId: 'org',
      message: JSON.stringify(usage('acme', service)),
      receivedAt: new Date(time),
    }));
    const { counts } = await rateUsage(tenant.scope, {
      partition: 0,
      from: first,
      end: first + records.length,
      records: await parseRecords(records),
      areKept: false,
      workflowId: 'test',
      runId: newId(),
      onFault: (error) => expect.fail(String(error)),
      onLatePartitions: (made) => (late += made),
    });
    const ids = records.map(({ receivedAt, offset }) => usageEventId(receivedAt, 0, offset));
    return { counts, late, ids };
  };

  it('take what comes while clocks are off, in a month that they make then', async () => {
    // Decades ahead, the last millisecond of a month, and before all partitions.
    const times = ['2199-07-15T00:00:00Z', '2198-02-28T23:59:59.999Z', '1971-01-01T00:00:00Z'];
    const { counts, late, ids } = await rateAt(0, ...times);
    expect(counts).to.deep.equal({ rated: 3, duplicate: 0, rejected: 0 });
    // Two months of two tables.
    expect(late).to.equal(4);
    expect(await partsOf(ids)).to.deep.equal([
      { events: 'usage_event_before', charges: 'rated_transaction_before' },
      { events: 'usage_event_219802', charges: 'rated_transaction_219802' },
      { events: 'usage_event_219907', charges: 'rated_transaction_219907' },
    ]);
    const again = await rateAt(3, '2199-07-31T23:59:59.999Z', '2198-02-01T00:00:00.000Z');
    expect(again).to.deep.include({ counts: { rated: 2, duplicate: 0, rejected: 0 }, late: 0 });
    for (const id of [...ids, ...again.ids]) {
      const { body } = await tenant.get(`/v1/usage-events/${id}`).expect(200);
      expect(body).to.include({ status: 'rated' });
      expect(body.ratedTransactions).to.have.length(1);
    }
  });

  it('are made once, however many processes make them', async () => {
    const at = [new Date('2150-03-01T00:00:00Z')];
    const made = await Promise.all(
      Array.from({ length: 8 }, () =>
        tenant.scope.db.transaction((trx) => makeUsagePartitions(trx, at)),
      ),
    );
    expect(made.reduce((sum, each) => sum + each, 0)).to.equal(2);
  });

  it('are made while others read and write, who wait for nothing', async () => {
    const open = async (work: (client: pg.Client) => Promise<void>): Promise<void> =>
      asOwner(instance.databaseUrl, async (client) => {
        await client.query('begin');
        await work(client);
        await client.query('rollback');
      });
    await open(async (writer) => {
      await writer.query(
        `insert into usage_event (tenant_id, id, partition, "offset", status, run_id, received_at)
         values ($1, $2, 1, 7, 'rejected', gen_random_uuid(), now())`,
        [tenant.id, usageEventId(new Date(), 1, 7)],
      );
      await writer.query('select count(*) from usage_event');
      await writer.query('update rated_transaction set discount = 0');
      const made = tenant.scope.db.transaction((trx) =>
        makeUsagePartitions(trx, [new Date('2151-01-01T00:00:00Z')]),
      );
      expect(await Promise.race([made, wait(3_000)])).to.equal(2);
    });
  });

  it('are made three months ahead, and their ages shown', async () => {
    const { platform } = instance;
    const [cell] = platform.database.cells;
    if (!cell) throw new Error('There is no cell.');
    await keepPartitions(platform, cell);
    const text = await platform.metrics.registry.metrics();
    const valueOf = (name: string): number =>
      Number(new RegExp(`^${name}\\{cell="home"\\} (\\S+)$`, 'm').exec(text)?.[1]);
    const day = 86_400;
    expect(valueOf('durabill_usage_partitions_ahead_seconds')).to.be.within(88 * day, 125 * day);
    // The one before all others has the event of 1971, and those of both wrong months have some.
    expect(valueOf('durabill_usage_partitions')).to.be.greaterThanOrEqual(3);
    expect(valueOf('durabill_usage_partition_age_seconds')).to.be.within(0, 31 * day);
  });

  it('show a tenant its own rows alone, also asked for by their names', async () => {
    const stranger = await instance.tenant();
    await asOwner(instance.databaseUrl, async (client) => {
      for (const { id, count } of [
        { id: tenant.id, count: 1 },
        { id: stranger.id, count: 0 },
      ]) {
        await client.query('begin');
        await client.query('set local role durabill_app');
        await client.query(`select set_config('app.tenant_id', $1, true)`, [id]);
        const { rows: found } = await client.query<{ count: number }>(
          'select count(*)::int as count from usage_event_before',
        );
        expect(found[0]?.count).to.equal(count);
        await client.query('rollback');
      }
    });
  });

  it('are pruned by ids, whatever their number', async () => {
    await rows(`select make_usage_partitions('2160-01-01Z', '2161-12-01Z')`);
    await asOwner(instance.databaseUrl, async (client) => {
      const planOf = async (sql: string, values: unknown[]): Promise<string> => {
        const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
          `explain (analyze, costs off, timing off, buffers off) ${sql}`,
          values,
        );
        return lines.map((line) => line['QUERY PLAN']).join('\n');
      };
      /** The partitions that were read. */
      const readIn = (plan: string): string[] => [
        ...new Set(
          plan
            .split('\n')
            .filter((line) => !line.includes('never executed'))
            .flatMap(
              (line) => line.match(/(?:usage_event|rated_transaction)_(?:before|\d{6})\b/) ?? [],
            ),
        ),
      ];
      const id = usageEventId(new Date('2198-02-28T23:59:59.999Z'), 0, 1);
      const one = await planOf('select * from usage_event where tenant_id = $1 and id = $2', [
        tenant.id,
        id,
      ]);
      expect(readIn(one)).to.deep.equal(['usage_event_219802']);
      // As charges of events are read: by the ids that they have.
      const charges = await planOf(
        'select * from rated_transaction where tenant_id = $1 and id = any($2::uuid[])',
        [tenant.id, Array.from({ length: 8 }, (_each, index) => chargeId(id, index + 1))],
      );
      expect(readIn(charges)).to.deep.equal(['rated_transaction_219802']);
      const newest = await planOf(
        'select * from usage_event where tenant_id = $1 order by id desc limit 1',
        [tenant.id],
      );
      expect(readIn(newest)).to.deep.equal(['usage_event_219907']);
    });
  });
});
