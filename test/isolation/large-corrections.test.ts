import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { meteredService, summary, usage, type Message } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';
import { createWallet } from '../support/billing/wallets.js';

const events = 5_000;
/** Quantities from 1 to 7, so that each event costs something else where a counter has moved. */
const quantityOf = (index: number): number => (index % 7) + 1;
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** What a volume costs: each begun package of 3 is 0.03. Where a counter moves by 1, most charges change. */
const priceOf = (volume: number): number => (Math.ceil(volume / 3) * 3) / 100;
const packages = {
  ...meteredService,
  rateCards: [
    {
      currency: 'USD',
      rows: [
        {
          priceDimName: 'api_calls',
          label: 'API calls',
          priceMethod: 'PACKAGE',
          packageSize: 3,
          unitRate: 0.03,
        },
      ],
    },
  ],
};

/** Corrections with more changes than are held in memory, and what goes on meanwhile. */
describe('large corrections', function () {
  this.timeout(360_000);
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'The meter was wrong.';
  let db: pg.Client;
  let serviceId = '';
  const quantities = new Map<string, number>();
  before(async () => {
    db = new pg.Client({ connectionString: story.instance.databaseUrl });
    await db.connect();
  });
  after(() => db.end());

  const messageOf = (id: string, calls: number, more: Message = {}): Message =>
    usage('acme', serviceId, {
      externalTransactionId: id,
      dimensions: { api_calls: String(calls) },
      ...more,
    });
  /** Sends many events at once; they are rated in this order. */
  const fill = async (money = 0): Promise<void> => {
    const accountId = await story.account('acme');
    if (money > 0) await createWallet(tenant, accountId, { balance: money });
    serviceId = await story.service('Packages', packages);
    quantities.clear();
    const messages = Array.from({ length: events }, (_each, index) => {
      quantities.set(`e-${index}`, quantityOf(index));
      return { message: messageOf(`e-${index}`, quantityOf(index)) };
    });
    for (let from = 0; from < events; from += 1_000) {
      await tenant.post('/v1/ingest/usage/batch', messages.slice(from, from + 1_000)).expect(200);
    }
    await rated(events);
    // What autovacuum does within a minute.
    await db.query('analyze');
  };
  const rated = async (number: number): Promise<void> => {
    for (;;) {
      const { accepted, pending } = await summary(tenant);
      if (accepted >= number && pending === 0) return;
      await wait(50);
    }
  };
  /** Sends an event beside others, and waits until it is rated. */
  const sendLive = async (id: string): Promise<void> => {
    quantities.set(id, 3);
    await tenant.post('/v1/ingest/usage', { message: messageOf(id, 3) }).expect(200);
    for (;;) {
      const { body } = await tenant.get(`/v1/usage-events/${id}`).expect(200);
      if (body.status === 'rated') return;
      await wait(10);
    }
  };
  const count = async (sql: string): Promise<number> => {
    const { rows } = await db.query<{ count: number }>(sql, [tenant.id]);
    return rows[0]?.count ?? 0;
  };
  const corrected = (): Promise<number> =>
    count(`select count(*)::integer from rated_transaction
      where tenant_id = $1 and correction_id is not null`);
  /** All charges, counters, totals and tallies are those of the events that stand. */
  const expectTruth = async (): Promise<void> => {
    const volume = sumOf([...quantities.values()]);
    const [total] = (await tenant.get('/v1/usage').expect(200)).body.data;
    expect(total).to.include({
      events: quantities.size,
      quantity: volume,
      amount: priceOf(volume),
    });
    const { body: audit } = await tenant
      .post('/v1/workflows/audit-usage/execute', {
        data: { periodStart: '2026-03-01', periodEnd: '2026-03-31' },
      })
      .expect(200);
    expect(audit.output.differences, JSON.stringify(audit.output).slice(0, 500)).to.deep.equal([]);
    const data = { from: '2026-03-01', to: '2026-04-01', reason, dryRun: true };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.output).to.include({ events: quantities.size, changed: 0 });
    const { body: list } = await tenant.get(`${external}/rated-transactions?size=1`).expect(200);
    expect(list.data.totalElements).to.equal(
      await count('select count(*)::integer from rated_transaction where tenant_id = $1'),
    );
  };

  // spec/beyond.md R142, R143
  it('are seen whole or not at all, and usage of the same counter is rated meanwhile', async () => {
    await fill();
    quantities.delete('e-0');
    const seen = new Set<number>();
    const shown: { readonly at: string; readonly body: unknown }[] = [];
    let ratedMeanwhile = 0;
    let isOver = false;
    const known = async (at: string): Promise<unknown> =>
      (await tenant.get(`/v1/usage?knownOn=${at}&to=2026-03-15T12:00:01Z`).expect(200)).body.data;
    const watch = async (): Promise<void> => {
      while (!isOver) {
        seen.add(await corrected());
        const at = new Date().toISOString();
        if (shown.length < 20) shown.push({ at, body: await known(at) });
      }
    };
    const live = async (): Promise<void> => {
      for (let number = 0; !isOver; number += 1) {
        await sendLive(`live-${number}`);
        if (!isOver) ratedMeanwhile += 1;
      }
    };
    const cancel = tenant
      .post('/v1/usage-events/e-0/cancel', { reason })
      .expect(200)
      .then(({ body }) => {
        isOver = true;
        return body as { correctionId: string };
      });
    const [{ correctionId }] = await Promise.all([cancel, watch(), live()]);
    const all = await corrected();
    expect(all).to.be.greaterThan(4_000);
    expect([...seen].filter((number) => number !== 0 && number !== all)).to.deep.equal([]);
    // Each of them moves the counter that is corrected, and none has waited for the whole correction.
    expect(ratedMeanwhile).to.be.greaterThan(2);
    for (const { at, body } of shown) expect(await known(at), at).to.deep.equal(body);
    await expectTruth();
    const { body } = await tenant.get(`/v1/corrections/${correctionId}`).expect(200);
    expect(body.changed).to.be.greaterThan(2_000);
    const page = (await tenant.get(`/v1/corrections/${correctionId}/charges?limit=2`).expect(200))
      .body;
    expect(page.data[0]).to.include({ externalTransactionId: 'e-0', before: 0.03, after: 0 });
  });

  // spec/beyond.md R142
  it('whose transaction is killed again and again leave the same as unkilled', async () => {
    await fill(10_000);
    const message = messageOf('e-1', 501);
    quantities.set('e-1', 501);
    let isOver = false;
    let kills = 0;
    const kill = async (): Promise<void> => {
      while (!isOver && kills < 5) {
        await wait(50 + Math.random() * 800);
        const { rowCount } = await db.query(
          `select pg_terminate_backend(lock.pid) from pg_locks as lock
           join pg_stat_activity as at on at.pid = lock.pid
           where lock.locktype = 'advisory' and lock.granted and at.datname = current_database()
             and at.xact_start < now() - interval '0.1 s' and at.state is not null
             and lock.mode = 'ExclusiveLock'`,
        );
        if ((rowCount ?? 0) > 0) kills += 1;
      }
    };
    const killing = kill();
    const answer = await tenant.post('/v1/usage-events/e-1/amend', { reason, message });
    if (answer.status === 504) {
      for (;;) {
        if ((await tenant.get('/v1/corrections').expect(200)).body.pagination.total > 0) break;
        await wait(100);
      }
    } else expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    isOver = true;
    await killing;
    expect(kills).to.be.greaterThan(0);
    expect((await tenant.get('/v1/corrections').expect(200)).body.pagination.total).to.equal(1);
    await expectTruth();
    // All is paid by grants: what was drawn for charges that are gone is back.
    const { body } = await tenant.get('/v1/accounts/acme/balance').expect(200);
    expect(body.balance).to.equal(10_000 - priceOf(sumOf([...quantities.values()])));
  });

  // spec/beyond.md R144
  it('and billing runs at once: nothing twice, nothing lost', async () => {
    await fill();
    const accountId = (await tenant.get(`${external}/accounts?size=1`)).body.data.content[0].Id;
    quantities.set('e-3', 902);
    const message = messageOf('e-3', 902);
    const amend = tenant.post('/v1/usage-events/e-3/amend', { reason, message }).expect(200);
    const isDone = amend.then(() => true);
    let runs = 0;
    while (!(await Promise.race([isDone, wait(150).then(() => false)]))) {
      await story.bill('2026-03', { accountId });
      runs += 1;
    }
    expect(runs).to.be.greaterThan(0);
    await expectTruth();
    story.travelTo('2026-05-02');
    await story.bill('2026-04');
    const { rows } = await db.query<{ billed: string; twice: number }>(
      `select (select trim_scale(sum(case invoice_type when 'Credit Note' then -amount else amount end))
           from invoice where tenant_id = $1 and invoice_status = 'Posted')::text as billed,
         (select count(*)::integer from (
           select charge from invoice_usage cross join unnest(transaction_ids) as charge
           where tenant_id = $1 group by 1 having count(*) > 1) as twice) as twice`,
      [tenant.id],
    );
    const volume = sumOf([...quantities.values()]);
    expect(rows).to.deep.equal([{ billed: String(priceOf(volume)), twice: 0 }]);
  });
});
