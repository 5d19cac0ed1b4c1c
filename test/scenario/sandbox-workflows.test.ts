import { expect } from 'chai';
import { setTenantClock } from '../../src/models/sandbox/sandbox-clock.js';
import type { TestTenant } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

/** spec/beyond.md R390: workflows of a sandbox wait by its clock. */
describe("tenants' workflows in a sandbox", function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });

  const sandboxAt = async (at: string): Promise<TestTenant> => {
    const tenant = await instance.tenant();
    await setTenantClock(instance.platform.database.platform, tenant.id, new Date(at));
    return tenant;
  };
  const move = async (tenant: TestTenant, now: string): Promise<Body> =>
    (await tenant.post('/v1/clock', { now }).expect(200)).body;
  const define = async (
    tenant: TestTenant,
    tasks: object[],
    more: object = {},
  ): Promise<string> => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'waiting', version: '1.0.0' };
    const definition = { document, ...more, do: tasks };
    const { body } = await tenant.post('/v1/workflows', { definition }).expect(201);
    return body.id;
  };
  const start = async (tenant: TestTenant, name: string): Promise<string> => {
    const path = `/v1/workflows/${name}/execute`;
    const { body } = await tenant.post(path, { data: {}, async: true }).expect(200);
    return body.executionId;
  };
  const executions = async (tenant: TestTenant, id: string): Promise<Body[]> =>
    (await tenant.get(`/v1/workflows/${id}/executions?limit=100`).expect(200)).body.data;
  /** Asks what time it is, and puts it among what was asked before. */
  const ask = (name: string) => ({
    [name]: {
      call: 'durabill.operation',
      with: { operationId: 'getClock' },
      export: { as: { times: '${ (has(context.times) ? context.times : []) + [output.now] }' } },
    },
  });
  const told = { tell: { set: { times: '${ context.times }' } } };

  it('wait until its time has come, one after the other, however far it is moved', async () => {
    const tenant = await sandboxAt('2027-01-01T00:00:00Z');
    const id = await define(tenant, [
      { first: { wait: { days: 2 } } },
      ask('one'),
      { second: { wait: 'PT36H' } },
      ask('two'),
      told,
    ]);
    await start(tenant, id);
    await move(tenant, '2027-01-02T23:59:59Z');
    expect((await executions(tenant, id)).map(({ status }) => status)).to.deep.equal(['running']);
    await move(tenant, '2027-03-01');
    const [ended] = await executions(tenant, id);
    expect(ended).to.deep.include({ status: 'completed' });
    expect(ended.output).to.deep.equal({
      times: ['2027-01-03T00:00:00.000Z', '2027-01-04T12:00:00.000Z'],
    });
  });

  it('are started by their schedule on the way, and waited for', async () => {
    const tenant = await sandboxAt('2027-01-15T00:00:00Z');
    const schedule = { cron: '0 6 1 * *' };
    const id = await define(
      tenant,
      [ask('one'), { later: { wait: { days: 3 } } }, ask('two'), told],
      {
        schedule,
      },
    );
    await move(tenant, '2027-04-02');
    const found = await executions(tenant, id);
    const times = found.map(({ output }) => output?.times?.map((at: string) => at.slice(0, 13)));
    expect(times).to.have.deep.members([
      ['2027-02-01T06', '2027-02-04T06'],
      ['2027-03-01T06', '2027-03-04T06'],
      undefined,
    ]);
    await move(tenant, '2027-04-05');
    expect((await executions(tenant, id)).map(({ status }) => status)).to.deep.equal(
      Array.from({ length: 3 }, () => 'completed'),
    );
  });

  it('wait with each branch, and for approvals until their time is over', async () => {
    const tenant = await sandboxAt('2027-01-01T00:00:00Z');
    const asked = {
      call: 'durabill.approval',
      with: { title: 'May it?', timeout: 'P5D', onTimeout: 'approve' },
    };
    const id = await define(tenant, [
      {
        both: {
          fork: {
            branches: [
              { short: { do: [{ wait: { wait: { days: 1 } } }, ask('one')] } },
              { long: { do: [{ wait: { wait: { days: 9 } } }, ask('three')] } },
              { asked: { do: [{ approve: asked }, ask('two')] } },
            ],
          },
        },
      },
      told,
    ]);
    await start(tenant, id);
    await move(tenant, '2027-02-01');
    const [ended] = await executions(tenant, id);
    expect(ended.output).to.deep.equal({
      times: ['2027-01-02', '2027-01-06', '2027-01-10'].map((day) => `${day}T00:00:00.000Z`),
    });
  });

  it('can be approved until its time is over, however late it is by others', async () => {
    const tenant = await sandboxAt('2020-01-01T00:00:00Z');
    const asked = { title: 'May it?', timeout: 'PT1H', onTimeout: 'fail' };
    const id = await define(tenant, [{ approve: { call: 'durabill.approval', with: asked } }]);
    await start(tenant, id);
    // It has come so far when all that runs only waits.
    await move(tenant, '2020-01-01T00:59:00Z');
    const { data } = (await tenant.get('/v1/approvals?kind=workflow').expect(200)).body;
    await tenant.post(`/v1/approvals/${data[0].id}`, { decision: 'approve' }).expect(200);
    await move(tenant, '2020-01-01T02:00:00Z');
    expect((await executions(tenant, id)).map(({ status }) => status)).to.deep.equal(['completed']);
  });
});
