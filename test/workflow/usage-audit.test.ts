import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import {
  changeBillingSchedule,
  setBillingSchedule,
} from '../../src/flows/billing/billing-schedule.js';
import { dayBefore, utcDate } from '../../src/kernel/time/date.js';
import { periodOf } from '../../src/kernel/time/period.js';
import type { UsageDifference } from '../../src/messages/usage/usage-audit.js';
import type { TestTenant } from '../support/servers/instance.js';
import { openReceiver } from '../support/servers/receiver.js';
import { asOwner } from '../support/servers/rows.js';
import {
  createAccount,
  createService,
  meteredService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const last = dayBefore(periodOf('Monthly', utcDate(new Date())).start);
const period = { periodStart: periodOf('Monthly', last).start, periodEnd: last };

interface AuditOutput {
  readonly events: number;
  readonly charges: number;
  readonly counters: number;
  readonly differenceCount: number;
  readonly differences: readonly UsageDifference[];
}

async function audit(tenant: TestTenant, more: object = {}): Promise<AuditOutput> {
  const data = { ...period, ...more };
  const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
  expect(body.status, JSON.stringify(body.error)).to.equal('completed');
  return body.output as AuditOutput;
}

describe('an audit of usage', () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);
  let ids: string[];
  before(async () => {
    await createAccount(tenant, 'acme');
    const plain = await createService(tenant, 'Calls');
    const metered = await createService(tenant, 'Metered', meteredService);
    const at = { eventTimestamp: `${last}T12:00:00Z` };
    ids = await send(
      tenant,
      usage('acme', plain, at),
      // 900 free; 100 free and 500 at 0.02: 10; another 100 at 0.02: 2. The counter: 1,600.
      usage('acme', metered, { ...at, dimensions: { api_calls: '900' } }),
      usage('acme', metered, { ...at, dimensions: { api_calls: '600' } }),
      usage('acme', metered, { ...at, dimensions: { api_calls: '100' } }),
    );
    await waitUntilRated(tenant, 4);
  });

  const change = (sql: string, ...values: string[]): Promise<number | null> =>
    asOwner(instance.databaseUrl, async (client) => {
      const { rowCount } = await client.query(sql, [tenant.id, ...values]);
      return rowCount;
    });

  // spec/rating.md R67
  it('finds nothing where nothing was touched', async () => {
    expect(await audit(tenant)).to.deep.include({
      ...period,
      samplePercent: 100,
      events: 4,
      charges: 4,
      counters: 1,
      differenceCount: 0,
      differences: [],
    });
    const before = dayBefore(period.periodStart);
    expect(await audit(tenant, { periodStart: before, periodEnd: before })).to.include({
      events: 0,
      charges: 0,
      counters: 0,
      differenceCount: 0,
    });
    expect((await audit(tenant, { samplePercent: 1 })).events).to.be.below(4);
  });

  it('names an amount that was changed behind the back of the product, and tells webhooks', async () => {
    const receiver = await openReceiver();
    const webhook = { url: receiver.url, events: ['audit.difference'], secret: 'any text' };
    await tenant.post('/v1/webhooks', webhook).expect(201);
    const sql = `update rated_transaction set amount = amount + $3::numeric
      where tenant_id = $1 and external_tran_id = $2`;
    expect(await change(sql, ids[2] ?? '', '0.01')).to.equal(1);
    const found = await audit(tenant);
    // The charge, its only row, and the totals of its day in three grains.
    expect(found.differenceCount).to.equal(5);
    const [difference] = found.differences;
    expect(difference).to.deep.include({
      kind: 'charge',
      field: 'amount',
      recorded: '10.01',
      computed: '10',
      externalTransactionId: ids[2],
      counterId: null,
    });
    const [delivery] = await receiver.until((received) => received.length > 0);
    expect(delivery?.payload.event).to.equal('audit.difference');
    expect(delivery?.payload.data).to.deep.include({ differenceCount: 5, ...period });
    await receiver.close();
    expect(await instance.platform.metrics.registry.metrics()).to.match(
      /^durabill_audit_differences_total 5$/m,
    );
    await change(sql, ids[2] ?? '', '-0.01');
    expect((await audit(tenant)).differenceCount).to.equal(0);
  });

  it('names a counter that was changed, and one that is gone', async () => {
    const sql = `update usage_counter set value = value - 100 where tenant_id = $1 returning id`;
    expect(await change(sql)).to.equal(1);
    const { differenceCount, differences } = await audit(tenant);
    expect(differenceCount).to.equal(1);
    expect(differences[0]).to.deep.include({
      kind: 'counter',
      field: 'value of api_calls',
      recorded: '1500',
      computed: '1600',
      ratedTransactionId: null,
    });
    await change('update usage_counter set value = value + 100 where tenant_id = $1');
    await change('create table kept as select * from usage_counter where tenant_id = $1');
    await change('delete from usage_counter where tenant_id = $1');
    const gone = await audit(tenant);
    expect(gone.differences[0]).to.deep.include({
      kind: 'counter',
      recorded: null,
      computed: '1600',
    });
    await change('insert into usage_counter select * from kept where tenant_id = $1');
    await asOwner(instance.databaseUrl, (client) => client.query('drop table kept'));
    expect((await audit(tenant)).differenceCount).to.equal(0);
  });

  it('names a dimension, and a charge whose recorded event is another', async () => {
    await change(`update rated_transaction set row_volume = quantity + 1
      where tenant_id = $1 and quantity = 900`);
    const fields = (await audit(tenant)).differences.map(({ field }) => field);
    expect(fields).to.deep.equal(['volume of api_calls', 'value of api_calls']);
    await change(`update rated_transaction set row_volume = null where tenant_id = $1`);
    const sql = `update usage_message as log set messages = replace(messages, $3, $4)
      from usage_event as event where event.tenant_id = $1 and log.tenant_id = $1
        and event.external_transaction_id = $2 and log.partition = event.partition
        and log.first_offset = event."offset"`;
    expect(await change(sql, ids[0] ?? '', '100', '200')).to.equal(1);
    const { differences } = await audit(tenant);
    expect(differences[0]).to.deep.include({ field: 'amount', recorded: '1', computed: '2' });
    await change(sql, ids[0] ?? '', '200', '100');
  });

  for (const [name, data, field] of [
    ['that is not over', { periodEnd: utcDate(new Date()) }, 'periodEnd'],
    ['that ends before it begins', { periodStart: last, periodEnd: dayBefore(last) }, 'periodEnd'],
    ['of no sample', { samplePercent: 0 }, 'samplePercent'],
  ] as const) {
    it(`refuses a period ${name}`, async () => {
      const body = { data: { ...period, ...data } };
      const answer = await tenant.post('/v1/workflows/audit-usage/execute', body).expect(400);
      expect(JSON.stringify(answer.body)).to.include(field);
    });
  }

  it('is made by a schedule for the period that ended last', async () => {
    const { waiter: client, taskQueue, signer } = instance.platform.temporal;
    const schedule = { tenantId: tenant.id, every: 'Monthly', hour: 4 } as const;
    await setBillingSchedule({ client, taskQueue, signer }, schedule, 'audit');
    expect(await changeBillingSchedule(client, tenant.id, 'trigger', 'audit')).to.equal(true);
    const deadline = Date.now() + 20_000;
    for (;;) {
      const { body } = await tenant.get('/v1/workflows/audit-usage/executions').expect(200);
      const made = (body.data as { actor: string; status: string; output: AuditOutput }[]).find(
        ({ actor, status }) => actor === 'audit-schedule' && status === 'completed',
      );
      if (made) {
        expect(made.output).to.deep.include({ ...period, events: 4, differenceCount: 0 });
        break;
      }
      if (Date.now() > deadline) expect.fail(`not audited: ${JSON.stringify(body)}`);
      await wait(100);
    }
    expect(await changeBillingSchedule(client, tenant.id, 'remove', 'audit')).to.equal(true);
  });

  it('names the charges of an event that is gone', async () => {
    const before = await audit(tenant);
    const sql = 'delete from usage_event where tenant_id = $1 and external_transaction_id = $2';
    await change(sql, ids[0] ?? '');
    const { events, charges, differences } = await audit(tenant);
    expect({ events, charges }).to.deep.equal({ events: before.events, charges: before.charges });
    const named = differences.filter(({ field }) => field === 'recorded inputs');
    expect(named.map(({ externalTransactionId }) => externalTransactionId)).to.deep.equal([ids[0]]);
  });
});
