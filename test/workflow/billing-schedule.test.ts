import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { dayBefore, utcDate } from '../../src/kernel/time/date.js';
import { periodOf } from '../../src/kernel/time/period.js';
import {
  changeBillingSchedule,
  holdSchedules,
  listBillingSchedules,
  setBillingSchedule,
} from '../../src/flows/billing/billing-schedule.js';
import { external } from '../support/servers/instance.js';
import { until } from '../start/workbench.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance } from '../support/servers/use-instance.js';

describe('a billing schedule', () => {
  const instance = useInstance({ withWorkers: true });

  it('is set, replaced, listed, paused, and bills the month that ended last', async () => {
    const tenant = await instance.tenant();
    const { waiter: client, taskQueue, signer } = instance.platform.temporal;
    const place = { client, taskQueue, signer };
    await createAccount(tenant, 'acme');
    const service = await createService(tenant, 'Calls');
    const last = dayBefore(periodOf('Monthly', utcDate(new Date())).start);
    await send(tenant, usage('acme', service, { eventTimestamp: `${last}T12:00:00Z` }));
    await waitUntilRated(tenant, 1);
    const schedule = { tenantId: tenant.id, every: 'Monthly', hour: 3 } as const;
    await setBillingSchedule(place, { ...schedule, hour: 2 });
    await setBillingSchedule(place, schedule);
    expect(await changeBillingSchedule(client, tenant.id, 'trigger')).to.equal(true);
    const deadline = Date.now() + 30_000;
    let executions: { status: string; actor: string; output: { invoiceCount: number } }[] = [];
    while (executions[0]?.status !== 'completed') {
      if (Date.now() > deadline) expect.fail(`not billed: ${JSON.stringify(executions)}`);
      await wait(100);
      const { body } = await tenant.get('/v1/workflows/billing-run/executions').expect(200);
      executions = body.data;
    }
    expect(executions[0]).to.include({ actor: 'billing-schedule' });
    expect(executions[0]?.output).to.include({ invoiceCount: 1, periodEnd: last });
    const list = await tenant.get(`${external}/invoices`).expect(200);
    expect(list.body.data.totalElements).to.equal(1);
    await changeBillingSchedule(client, tenant.id, 'pause');
    // Temporal's list follows its schedules within moments.
    const listed = async () =>
      (await listBillingSchedules(client)).find(({ tenantId: id }) => id === tenant.id);
    await until(async () => (await listed())?.isPaused, 30_000, 'the pause');
    expect(await listed()).to.include({ note: 'Monthly, at 03:00 UTC' });
    // Another time is no leave to go on.
    await setBillingSchedule(place, { ...schedule, hour: 4 });
    await until(async () => (await listed())?.note.includes('04:00'), 30_000, 'the new time');
    expect(await listed()).to.include({ note: 'Monthly, at 04:00 UTC', isPaused: true });
    expect(await changeBillingSchedule(client, tenant.id, 'remove')).to.equal(true);
    expect(await changeBillingSchedule(client, tenant.id, 'pause')).to.equal(false);
  }).timeout(120_000);

  it('rests while its tenant is suspended; one that was paused before stays so', async () => {
    const { waiter: client, taskQueue, signer } = instance.platform.temporal;
    const place = { client, taskQueue, signer };
    const [held, paused] = [await instance.tenant(), await instance.tenant()];
    for (const { id } of [held, paused]) {
      await setBillingSchedule(place, { tenantId: id, every: 'Monthly', hour: 3 });
    }
    await changeBillingSchedule(client, paused.id, 'pause');
    const isPaused = async ({ id }: { readonly id: string }) =>
      (await listBillingSchedules(client)).find(({ tenantId }) => tenantId === id)?.isPaused;
    const become = (tenant: { readonly id: string }, state: boolean) =>
      until(async () => (await isPaused(tenant)) === state, 30_000, `paused: ${state}`);
    await become(held, false);
    await become(paused, true);
    for (const { id } of [held, paused]) await holdSchedules(client, id, true);
    await become(held, true);
    // Twice, as by somebody who does not know that it was done.
    for (const { id } of [held, paused]) await holdSchedules(client, id, true);
    // Another time meanwhile is no reason to rest for ever.
    await setBillingSchedule(place, { tenantId: held.id, every: 'Monthly', hour: 4 });
    for (const { id } of [held, paused]) await holdSchedules(client, id, false);
    await become(held, false);
    expect(await isPaused(paused)).to.equal(true);
    for (const { id } of [held, paused]) await changeBillingSchedule(client, id, 'remove');
  }).timeout(120_000);
});
