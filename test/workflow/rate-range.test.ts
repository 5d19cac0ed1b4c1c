import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'chai';
import { rateRange } from '../../src/activities/usage/rate-range.js';
import { parseRecords, rateUsage } from '../../src/commands/usage/rate-usage.js';
import { newId } from '../../src/kernel/id.js';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { createAccount, createService, summary, usage } from '../support/billing/usage.js';
import type { Message } from '../support/billing/usage.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** Slots of rating are shared: what takes long ends between two transactions (docs/decisions/0188). */
describe('a range of usage that takes long', () => {
  const instance = useInstance();
  const tenant = useTenant(instance, { forEachTest: true });
  let serviceId: string;
  beforeEach(async () => {
    await createAccount(tenant, 'acme');
    serviceId = await createService(tenant, 'Calls');
  });

  /** Appends messages of acme, all of whose usage is in one partition, to the log; that partition. */
  const publish = async (messages: readonly Message[]): Promise<number> => {
    const batch = messages.map((message) => ({ message }));
    for (let first = 0; first < batch.length; first += 600)
      await tenant.post('/v1/ingest/usage/batch', batch.slice(first, first + 600)).expect(200);
    const ends = await instance.platform.broker.ends(tenant.id);
    const [log, ...others] = ends.filter(({ offset }) => offset > 0);
    if (!log || others.length > 0) throw new Error('Not all of it is in one partition.');
    return log.partition;
  };
  const longMs = 60_000;
  /** Rates a range as a step of a workflow; time stands until so many transactions are committed. */
  const rate = async (
    [partition, firstOffset, endOffset]: readonly [number, number, number],
    inTime = Infinity,
  ) => {
    const { platform } = instance;
    const workflowExecution = { workflowId: 'test', runId: newId() };
    const step = new MockActivityEnvironment({ workflowExecution });
    const now = performance.now.bind(performance);
    const begunAt = now();
    let transactions = 0;
    performance.now = () => (transactions < inTime ? begunAt : begunAt + longMs);
    try {
      const range = { tenantId: tenant.id, partition, firstOffset, endOffset };
      const onCommitted = () => {
        transactions += 1;
      };
      const result: object = await step.run(() =>
        rateRange(platform, tenant.scope, range, onCommitted),
      );
      return { ...result, transactions };
    } finally {
      performance.now = now;
    }
  };
  const countEvents = async () => {
    const sql = `select count(*)::integer as events, count(distinct "offset")::integer as offsets
      from usage_event where tenant_id = ?`;
    const [row] = await sqlRows<object>(tenant.scope.db.read, sql, [tenant.id]);
    return row;
  };

  // spec/beyond.md R153
  it('ends within what was read at once, and goes on where it was', async () => {
    const first = Array.from({ length: 600 }, (_each, index) =>
      usage('acme', serviceId, { externalTransactionId: `event-${index}` }),
    );
    const partition = await publish(first);
    const none = { rated: 0, duplicate: 0, rejected: 0 };
    // New ones are weighed with nothing.
    const once = { ...none, rated: 600, transactions: 1 };
    expect(await rate([partition, 0, 600])).to.deep.equal(once);
    // Each twice, every second with another content: what 500 repeat is weighed and compared at once.
    const repeats = first.map((message, index) =>
      index % 2 === 0 ? message : { ...message, dimensions: { api_calls: '1' } },
    );
    await publish([...repeats, ...repeats]);
    // Of 600 to 1,600, which were read at once, and behind which what follows was made ready.
    const cut = { ...none, duplicate: 250, rejected: 250, nextOffset: 1_100, transactions: 1 };
    expect(await rate([partition, 600, 1_800], 1)).to.deep.equal(cut);
    expect(await countEvents()).to.deep.equal({ events: 1_100, offsets: 1_100 });
    // A step that is tried again counts what was committed before.
    const again = { ...none, duplicate: 500, rejected: 500, nextOffset: 1_600, transactions: 1 };
    expect(await rate([partition, 600, 1_800], 1)).to.deep.equal(again);
    const rest = { ...none, duplicate: 100, rejected: 100, transactions: 1 };
    expect(await rate([partition, 1_600, 1_800])).to.deep.equal(rest);
    expect(await countEvents()).to.deep.equal({ events: 1_800, offsets: 1_800 });
    const all = { accepted: 1_800, rated: 600, duplicate: 600, rejected: 600, pending: 0 };
    expect(await summary(tenant)).to.deep.equal(all);
  });

  it('uses what was made ready where it is not cut', async () => {
    const first = Array.from({ length: 600 }, (_each, index) =>
      usage('acme', serviceId, { externalTransactionId: `event-${index}` }),
    );
    const partition = await publish([...first, ...first, ...first]);
    const all = { rated: 600, duplicate: 1_200, rejected: 0 };
    // 600 with 400 of their own repeats; of the 800 behind them 500 that are weighed at once, and the rest.
    expect(await rate([partition, 0, 1_800])).to.deep.equal({ ...all, transactions: 3 });
    expect(await countEvents()).to.deep.equal({ events: 1_800, offsets: 1_800 });
    expect(await summary(tenant)).to.deep.equal({ ...all, accepted: 1_800, pending: 0 });
  });

  it('ends also while what cannot be stored is looked for', async () => {
    const messages = ['a', 'b', 'unstorable', 'd'].map((externalTransactionId) =>
      usage('acme', serviceId, { externalTransactionId }),
    );
    const records = await parseRecords(
      messages.map((message, offset) => ({
        offset,
        key: null,
        orgId: null,
        receivedAt: new Date(),
        message: JSON.stringify(message),
      })),
    );
    const asOwnerDo = (sql: string) => asOwner(instance.databaseUrl, (client) => client.query(sql));
    await asOwnerDo(`
      create function refuse_unstorable() returns trigger language plpgsql as $$
      begin
        raise exception 'This is refused.' using errcode = '22003';
      end $$;
      create trigger refuse_unstorable before insert on usage_event for each row
        when (new.external_transaction_id = 'unstorable' and new.status = 'rated')
        execute function refuse_unstorable()`);
    try {
      const ends: (readonly [counts: object, next: number])[] = [];
      let faults = 0;
      for (let from = 0; from < records.length;) {
        const { counts, next } = await rateUsage(tenant.scope, {
          partition: 0,
          from,
          end: records.length,
          records: records.filter(({ record }) => record.offset >= from),
          areKept: false,
          workflowId: 'test',
          runId: newId(),
          isOver: () => true,
          onFault: () => {
            faults += 1;
          },
        });
        ends.push([counts, next]);
        from = next;
      }
      const none = { rated: 0, duplicate: 0, rejected: 0 };
      expect(ends).to.deep.equal([
        [{ ...none, rated: 2 }, 2],
        [{ ...none, rejected: 1 }, 3],
        [{ ...none, rated: 1 }, 4],
      ]);
      // Of all four, of the last two, and of it alone.
      expect(faults).to.equal(3);
    } finally {
      await asOwnerDo('drop function refuse_unstorable() cascade');
    }
  });
});
