import { ServiceError, type CalendarSpec } from '@temporalio/client';
import { expect } from 'chai';
import { listBillingSchedules } from '../../../src/flows/billing/billing-schedule.js';
import { readSchedule } from '../../../src/platform/temporal/known-schedule.js';
import { setTenantClock } from '../../../src/models/sandbox/sandbox-clock.js';
import { until } from '../../start/workbench.js';
import { useInstance } from '../../support/servers/use-instance.js';

const path = '/v1/schedules';

describe('schedules of billing runs and audits', () => {
  const instance = useInstance();

  const auditOf = async (tenant: Awaited<ReturnType<typeof instance.tenant>>) => {
    const { body } = await tenant.get('/v1/audit?entity=schedule').expect(200);
    return (body.data as { entityKey: string; action: string; after: object | null }[]).map(
      ({ entityKey, action, after }) => [entityKey, action, after],
    );
  };

  // spec/beyond.md R466
  it('are set, paused, changed, resumed and removed, each of which the audit keeps', async () => {
    const tenant = await instance.tenant();
    const set = async (body: object, job = 'billing') =>
      (await tenant.put(`${path}/${job}`, body).expect(200)).body;
    const list = async () => (await tenant.get(path).expect(200)).body.schedules;
    expect(await list()).to.deep.equal([]);
    const first = await set({});
    expect(first).to.include({ job: 'billing', every: 'Monthly', hour: 1, paused: false });
    const now = new Date();
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 1));
    const thisMonth = now.toISOString().slice(0, 7);
    // On the first of a month before one o'clock it is due today.
    if (now.getUTCDate() > 1) {
      expect(first.nextAt).to.equal(nextMonth.toISOString());
      expect(first.periodStart).to.equal(`${thisMonth}-01`);
    }
    expect(await list()).to.deep.equal([first]);
    const nothing = { nextAt: null, periodStart: null, periodEnd: null };
    const paused = { ...first, paused: true, ...nothing };
    expect(await set({ paused: true })).to.deep.equal(paused);
    // Another time is no leave to go on.
    const changed = { ...paused, every: 'Daily', hour: 3 };
    expect(await set({ every: 'Daily', hour: 3 })).to.deep.equal(changed);
    expect(await list()).to.deep.equal([changed]);
    const daily = await set({ paused: false });
    expect(daily).to.include({ every: 'Daily', hour: 3, paused: false });
    // Each day is billed on the day after it.
    expect(daily.periodStart).to.equal(daily.periodEnd);
    expect(Date.parse(daily.nextAt) - Date.parse(daily.periodEnd)).to.equal((24 + 3) * 3_600_000);
    // Twice is once, and no change.
    expect(await set({ every: 'Daily', hour: 3 })).to.deep.equal(daily);
    expect(await set({ every: 'Weekly', hour: 23, paused: true }, 'audit')).to.include({
      job: 'audit',
      paused: true,
    });
    expect((await list()).map(({ job }: { job: string }) => job)).to.deep.equal([
      'billing',
      'audit',
    ]);
    await tenant.delete(`${path}/billing`).expect(204);
    await tenant.delete(`${path}/billing`).expect(404);
    expect((await list()).map(({ job }: { job: string }) => job)).to.deep.equal(['audit']);
    const times = (every: string, hour: number, isPaused: boolean) => ({
      every,
      hour,
      paused: isPaused,
    });
    expect(await auditOf(tenant)).to.deep.equal([
      ['billing', 'delete', null],
      ['audit', 'create', times('Weekly', 23, true)],
      ['billing', 'update', times('Daily', 3, false)],
      ['billing', 'update', times('Daily', 3, true)],
      ['billing', 'update', times('Monthly', 1, true)],
      ['billing', 'create', times('Monthly', 1, false)],
    ]);
    await tenant.delete(`${path}/audit`).expect(204);
  });

  it('are those of their tenant, and changed by ADMIN alone', async () => {
    const [own, other] = [await instance.tenant(), await instance.tenant()];
    await own.put(`${path}/billing`, { hour: 5 }).expect(200);
    expect((await other.get(path).expect(200)).body).to.deep.equal({
      schedules: [],
      unreadable: [],
    });
    await other.delete(`${path}/billing`).expect(404);
    const operator = await instance.token(own.id, ['OPERATOR']);
    const as = { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' };
    const send = (method: string, to: string) =>
      fetch(`${instance.url}${to}`, {
        method,
        headers: as,
        ...(method === 'PUT' ? { body: '{"paused":true}' } : {}),
      });
    expect((await send('GET', path)).status).to.equal(200);
    for (const method of ['PUT', 'DELETE']) {
      expect((await send(method, `${path}/billing`)).status).to.equal(403);
    }
    expect(await readSchedule(instance.platform.temporal, own.id, 'billing')).to.deep.equal({
      every: 'Monthly',
      hour: 5,
      paused: false,
    });
    await own.delete(`${path}/billing`).expect(204);
  });

  it('are refused where they cannot be', async () => {
    const tenant = await instance.tenant();
    for (const body of [{ every: 'Yearly' }, { hour: 24 }, { hour: 1.5 }, { minute: 1 }]) {
      await tenant.put(`${path}/billing`, body).expect(400);
    }
    await tenant.put(`${path}/closing`, {}).expect(400);
    await tenant.delete(`${path}/closing`).expect(400);
    expect(await auditOf(tenant)).to.deep.equal([]);
  });

  it('of two changes at once both are done, one after the other', async () => {
    const tenant = await instance.tenant();
    const bodies = [{ hour: 2 }, { hour: 3 }, { hour: 4 }, { paused: true }];
    await Promise.all(bodies.map((body) => tenant.put(`${path}/billing`, body).expect(200)));
    const { body } = await tenant.get(path).expect(200);
    expect(body.schedules).to.have.length(1);
    expect(body.schedules[0]).to.include({ paused: true });
    expect(body.schedules[0].hour).to.be.oneOf([2, 3, 4]);
    expect(await auditOf(tenant)).to.have.length(4);
    await tenant.delete(`${path}/billing`).expect(204);
  });

  /** As versions set it whose memo had no hour, and as others may change it in Temporal. */
  const setInTemporal = (tenantId: string, every: string, calendars: CalendarSpec[]) =>
    instance.platform.temporal.waiter.schedule.create({
      scheduleId: `billing/${tenantId}`,
      spec: { calendars },
      action: {
        type: 'startWorkflow',
        workflowType: 'scheduleBilling',
        workflowId: `${tenantId}/billing-schedule`,
        taskQueue: instance.platform.temporal.taskQueue,
        args: [{ tenantId, every }],
      },
      memo: { note: `${every}, at seven` },
      state: { paused: true },
    });

  // spec/beyond.md R466
  it('that an earlier version set are read, and keep what is not given', async () => {
    const calendars: [string, CalendarSpec][] = [
      ['Daily', { hour: 7 }],
      ['Weekly', { dayOfWeek: 'MONDAY', hour: 7 }],
      ['Monthly', { dayOfMonth: 1, hour: 7 }],
    ];
    for (const [every, calendar] of calendars) {
      const tenant = await instance.tenant();
      await setInTemporal(tenant.id, every, [calendar]);
      const { body: list } = await tenant.get(path).expect(200);
      expect(list.schedules).to.have.length(1);
      expect(list.schedules[0]).to.include({ job: 'billing', every, hour: 7, paused: true });
      const { body } = await tenant.put(`${path}/billing`, { hour: 3 }).expect(200);
      expect(body).to.include({ every, hour: 3, paused: true });
      const { body: after } = await tenant.get(path).expect(200);
      expect(after.schedules).to.deep.equal([body]);
      await tenant.delete(`${path}/billing`).expect(204);
    }
  });

  // spec/beyond.md R466
  it('that cannot be read are listed as such and not replaced, but can be removed', async () => {
    const foreign: [string, CalendarSpec[]][] = [
      ['Monthly', [{ hour: 7 }, { hour: 8 }]],
      ['Monthly', [{ dayOfMonth: 1, hour: [7, 8] }]],
      ['Monthly', [{ hour: 7 }]],
      ['Yearly', [{ hour: 7 }]],
    ];
    for (const [every, calendars] of foreign) {
      const tenant = await instance.tenant();
      await setInTemporal(tenant.id, every, calendars);
      const audited = await tenant.put(`${path}/audit`, { hour: 4 }).expect(200);
      const { body } = await tenant.get(path).expect(200);
      expect(body).to.deep.equal({ schedules: [audited.body], unreadable: ['billing'] });
      await tenant.delete(`${path}/audit`).expect(204);
      await tenant.put(`${path}/billing`, { hour: 3 }).expect(409);
      expect((await auditOf(tenant)).map(([job]) => job)).to.deep.equal(['audit', 'audit']);
      await tenant.delete(`${path}/billing`).expect(204);
      expect((await tenant.get(path).expect(200)).body).to.deep.equal({
        schedules: [],
        unreadable: [],
      });
    }
  });

  // spec/beyond.md R466
  it('are not lost with an answer of Temporal, and the audit has what was asked', async () => {
    const tenant = await instance.tenant();
    const was = { every: 'Weekly', hour: 5, paused: true };
    await tenant.put(`${path}/billing`, was).expect(200);
    const { schedule } = instance.platform.temporal.waiter;
    const getHandle = schedule.getHandle.bind(schedule);
    const lost = () => {
      throw new ServiceError('The answer is lost.', {
        cause: Object.assign(new Error(), { code: 14 }),
      });
    };
    schedule.getHandle = (id) => {
      const handle = getHandle(id);
      return {
        ...handle,
        update: (change) => handle.update(change).then(lost),
        delete: () => handle.delete().then(lost),
      };
    };
    const changed = { ...was, hour: 6 };
    try {
      await tenant.put(`${path}/billing`, { hour: 6 }).expect(503);
      const { body } = await tenant.get(path).expect(200);
      expect(body.schedules[0]).to.include(changed);
      await tenant.delete(`${path}/billing`).expect(503);
    } finally {
      schedule.getHandle = getHandle;
    }
    expect((await tenant.get(path).expect(200)).body).to.deep.equal({
      schedules: [],
      unreadable: [],
    });
    expect(await auditOf(tenant)).to.deep.equal([
      ['billing', 'delete', null],
      ['billing', 'update', changed],
      ['billing', 'create', was],
    ]);
  });

  it('of a sandbox are due by its own time', async () => {
    const tenant = await instance.tenant();
    const { platform } = instance.platform.database;
    await setTenantClock(platform, tenant.id, new Date('2031-05-15T00:00:00Z'));
    const { body } = await tenant.put(`${path}/billing`, { hour: 2 }).expect(200);
    expect(body).to.include({
      nextAt: '2031-06-01T02:00:00.000Z',
      periodStart: '2031-05-01',
      periodEnd: '2031-05-31',
    });
    // Temporal does not start it, so that its spec has no hour.
    const { body: later } = await tenant.put(`${path}/billing`, { hour: 4 }).expect(200);
    expect(later).to.include({ every: 'Monthly', hour: 4, nextAt: '2031-06-01T04:00:00.000Z' });
    expect((await tenant.get(path).expect(200)).body.schedules).to.deep.equal([later]);
    const { lister } = instance.platform.temporal;
    const listed = async () =>
      (await listBillingSchedules(lister)).find(({ tenantId }) => tenantId === tenant.id);
    await until(async () => (await listed()) !== undefined, 30_000, 'the schedule in the list');
    expect(await listed()).to.include({ note: 'Monthly, at 04:00 UTC' });
    await tenant.delete(`${path}/billing`).expect(204);
  });
});
