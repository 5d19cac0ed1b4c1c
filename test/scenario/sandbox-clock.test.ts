import { expect } from 'chai';
import { setBillingSchedule } from '../../src/flows/billing/billing-schedule.js';
import { setTenantClock } from '../../src/models/sandbox/sandbox-clock.js';
import { usage } from '../support/billing/usage.js';
import { every, subscription } from '../support/story/prices.js';
import { Story } from '../support/story/story.js';
import type { TestTenant } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';

interface Done {
  readonly at: string;
  readonly kind: string;
  readonly count: number;
  readonly status: string;
  readonly executionId: string | null;
}

describe('the clock of a tenant', () => {
  const instance = useInstance({ withWorkers: true });

  const sandboxAt = async (at: string): Promise<TestTenant> => {
    const tenant = await instance.tenant();
    await setTenantClock(instance.platform.database.platform, tenant.id, new Date(at));
    return tenant;
  };
  const storyOf = (tenant: TestTenant) => new Story(instance, tenant, { now: undefined });
  const clockOf = async (tenant: TestTenant) => (await tenant.get('/v1/clock').expect(200)).body;
  const move = (tenant: TestTenant, now: unknown) => tenant.post('/v1/clock', { now });

  // spec/beyond.md R243, R244
  it('is the real one of a tenant that is no sandbox, which nobody moves', async () => {
    const tenant = await instance.tenant();
    const { now, sandbox } = await clockOf(tenant);
    expect(sandbox).to.equal(false);
    expect(Math.abs(Date.parse(now) - Date.now())).to.be.below(60_000);
    const { body } = await move(tenant, '2030-01-01').expect(409);
    expect(body.error).to.deep.include({ code: 'CONFLICT' });
    expect(body.error.message).to.include('is no sandbox');
  });

  // spec/beyond.md R243, R244
  it('stands in a sandbox until it is moved, and never goes back', async () => {
    const tenant = await sandboxAt('2027-01-15T10:00:00Z');
    const before = { now: '2027-01-15T10:00:00.000Z', sandbox: true };
    expect(await clockOf(tenant)).to.deep.equal(before);
    for (const now of [
      '2027-01-15T09:59:59.999Z',
      '2027-01-15',
      'yesterday',
      5,
      null,
      '9500-01-01',
    ]) {
      const { body } = await move(tenant, now).expect(400);
      expect(body.error.message, String(now)).to.include("'now'");
    }
    await tenant.post('/v1/clock', {}).expect(400);
    await tenant.post('/v1/clock', { now: '2027-02-01', then: 1 }).expect(400);
    expect(await clockOf(tenant)).to.deep.equal(before);
    const { body } = await move(tenant, '2027-02-01').expect(200);
    expect(body).to.deep.include({
      now: '2027-02-01T00:00:00.000Z',
      sandbox: true,
      movedFrom: before.now,
      done: [],
      doneCount: 0,
    });
    // To where it stands: nothing happens.
    await move(tenant, body.now).expect(200);
    expect(await clockOf(tenant)).to.deep.equal({ now: body.now, sandbox: true });
    const path = `/v1/workflows/move-clock/executions/${body.executionId}`;
    expect((await tenant.get(path).expect(200)).body).to.include({ status: 'completed' });
  });

  // spec/beyond.md R245
  it('takes a key: sent again, the time is moved once', async () => {
    const tenant = await sandboxAt('2027-01-15');
    const send = () => move(tenant, '2027-02-01').set('Idempotency-Key', 'once').expect(200);
    const { body } = await send();
    await move(tenant, '2027-03-01').expect(200);
    expect((await send()).body).to.deep.equal(body);
    await move(tenant, '2027-04-01').set('Idempotency-Key', 'once').expect(409);
    expect((await clockOf(tenant)).now).to.equal('2027-03-01T00:00:00.000Z');
  });

  // spec/beyond.md R246
  it('lets holds end, and grants take effect and expire, on its way', async () => {
    const tenant = await sandboxAt('2027-01-15T10:00:00Z');
    const accountId = await storyOf(tenant).account('acme');
    const wallet = { title: 'Prepaid', accountId, currency: 'USD' };
    const { body: made } = await tenant.post('/api/v1/external/wallets', wallet).expect(201);
    const grant = (externalId: string, amount: number, more: object) =>
      tenant
        .post(`/v1/wallets/${made.id}/grants`, { externalId, amount, kind: 'purchased', ...more })
        .expect(201);
    await grant('expires', 10, { expiresAt: '2027-02-01' });
    await grant('later', 5, { effectiveFrom: '2027-01-20' });
    const hold = { accountId, currency: 'USD', amount: 4, expiresInSeconds: 3600, key: 'one' };
    await tenant.post('/v1/holds', hold).expect(201);
    const balance = async () =>
      (await tenant.get(`/v1/accounts/${accountId}/balance?currency=USD`).expect(200)).body;
    expect(await balance()).to.include({ balance: 10, held: 4, available: 6 });
    const kinds = async (now: string) =>
      ((await move(tenant, now).expect(200)).body.done as Done[]).map(
        ({ at, kind, count }) => `${at} ${kind} ${count}`,
      );
    expect(await kinds('2027-01-15T12:00:00Z')).to.deep.equal(['2027-01-15T11:00:00.000Z holds 1']);
    expect(await balance()).to.include({ balance: 10, held: 0, available: 10 });
    expect(await kinds('2027-03-01')).to.deep.equal([
      '2027-01-20T00:00:00.000Z grants 1',
      '2027-02-01T00:00:00.000Z grants 1',
    ]);
    expect(await balance()).to.include({ balance: 5, held: 0, available: 5 });
  });

  // spec/beyond.md R244, R246
  it('bills a year by schedule at once, each month in its time', async () => {
    const tenant = await sandboxAt('2027-01-15T10:00:00Z');
    const story = storyOf(tenant);
    const { waiter: client, taskQueue, signer } = instance.platform.temporal;
    await setBillingSchedule(
      { client, taskQueue, signer },
      { tenantId: tenant.id, every: 'Monthly', hour: 3, isSandbox: true },
    );
    await story.account('acme', { netTerm: 'Net 7' });
    const plan = await story.service('Plan', subscription('Plan', 30));
    const calls = await story.service('Calls');
    const line = { serviceId: plan, ...every('Monthly') };
    await story.subscribe('acme', [line], { startDate: '2027-01-01' });
    await story.send(usage('acme', calls, { eventTimestamp: '2027-01-15T09:00:00Z' }));
    // Where it takes longer than an answer is waited for, the same is asked again.
    const send = () => move(tenant, '2028-01-15').set('Idempotency-Key', 'a-year');
    let { status, body } = await send();
    for (const deadline = Date.now() + 60_000; status === 504 && Date.now() < deadline;) {
      ({ status, body } = await send());
    }
    expect(status).to.equal(200);
    const months = Array.from({ length: 12 }, (_each, index) =>
      new Date(Date.UTC(2027, index + 1, 1)).toISOString().slice(0, 7),
    );
    const done = body.done as Done[];
    const short = ({ at, kind, count, status }: Done) => `${at} ${kind} ${count} ${status}`;
    // Invoices of the first are due on the eighth, and overdue on the ninth.
    expect(done.map(short)).to.deep.equal(
      months.flatMap((month) => [
        `${month}-01T03:00:00.000Z billing-run 1 completed`,
        `${month}-09T00:00:00.000Z overdue-invoices 1 completed`,
      ]),
    );
    const { body: list } = await tenant.get('/api/v1/external/invoices?size=20').expect(200);
    const rows = list.data.content as Record<string, unknown>[];
    const seen = rows.map((row) => [row['InvoiceDate'], row['Amount'], row['DueStatus']]);
    // 30 a month, and in the first 100 calls at 0.01 more.
    expect(seen.reverse()).to.deep.equal(
      months.map((month, index) => [`${month}-01`, index === 0 ? 31 : 30, 'Overdue']),
    );
    const execution = `/v1/workflows/billing-run/executions/${done[0]?.executionId}`;
    expect((await tenant.get(execution).expect(200)).body.output).to.include({
      periodStart: '2027-01-01',
      periodEnd: '2027-01-31',
      invoiceDate: '2027-02-01',
    });
  }).timeout(120_000);

  // spec/beyond.md R246, R466
  it('carries out a schedule that was set over HTTP, but nothing of while it was paused', async () => {
    const tenant = await sandboxAt('2027-01-15T10:00:00Z');
    const set = (body: object) => tenant.put('/v1/schedules/billing', body).expect(200);
    const listed = async () => (await tenant.get('/v1/schedules').expect(200)).body.schedules[0];
    const jobsUntil = async (now: string) =>
      ((await move(tenant, now).expect(200)).body.done as Done[]).map(
        ({ at, kind, status }) => `${at} ${kind} ${status}`,
      );
    const { body: first } = await set({ every: 'Weekly', hour: 2 });
    // The fifteenth is a Friday.
    const monday = { nextAt: '2027-01-18T02:00:00.000Z', periodStart: '2027-01-11' };
    expect(first).to.include({ ...monday, periodEnd: '2027-01-17' });
    expect(await jobsUntil('2027-01-18T01:59:59Z')).to.deep.equal([]);
    expect(await listed()).to.deep.equal(first);
    expect(await jobsUntil('2027-01-18T02:00:00Z')).to.deep.equal([
      '2027-01-18T02:00:00.000Z billing-run completed',
    ]);
    expect(await listed()).to.include({
      nextAt: '2027-01-25T02:00:00.000Z',
      periodStart: '2027-01-18',
    });
    await set({ paused: true });
    expect(await jobsUntil('2027-01-28')).to.deep.equal([]);
    expect(await listed()).to.include({ paused: true, nextAt: null });
    await set({ paused: false });
    expect(await jobsUntil('2027-02-02')).to.deep.equal([
      '2027-02-01T02:00:00.000Z billing-run completed',
    ]);
    await tenant.delete('/v1/schedules/billing').expect(204);
    expect(await jobsUntil('2027-02-10')).to.deep.equal([]);
  });

  // spec/beyond.md R466
  it('stands while a schedule cannot be read, and says which', async () => {
    const tenant = await sandboxAt('2027-01-15T10:00:00Z');
    const { waiter, taskQueue } = instance.platform.temporal;
    await waiter.schedule.create({
      scheduleId: `audit/${tenant.id}`,
      spec: { calendars: [{ hour: [7, 8] }] },
      action: { type: 'startWorkflow', workflowType: 'scheduleUsageAudit', taskQueue, args: [] },
      state: { paused: true },
    });
    const { body } = await move(tenant, '2027-02-01').expect(409);
    expect(body.error.message).to.include("The schedule of 'audit'");
    expect((await clockOf(tenant)).now).to.equal('2027-01-15T10:00:00.000Z');
    await tenant.delete('/v1/schedules/audit').expect(204);
    await move(tenant, '2027-02-01').expect(200);
  });
});
