import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { makeRecordType } from '../support/billing/records.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** As deep as a body may nest, with the record in it: what tells of it nests deeper. */
const deep = (): object => {
  let value: object = {};
  for (let level = 0; level < 62; level += 1) value = { a: value };
  return value;
};

// spec/platform.md R157
describe("events of records that nest as deep as may be, for tenants' workflows", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  const made = { with: { type: 'mdata.created' } };

  const define = (name: string, tasks: readonly object[], more: object = {}) => {
    const document = { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' };
    return tenant.post('/v1/workflows', { definition: { document, do: tasks, ...more } });
  };
  const completed = async (path: string): Promise<boolean> => {
    const { body } = await tenant.get(path).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.be.oneOf(['running', 'completed']);
    return body.status === 'completed';
  };
  const until = async (look: () => Promise<boolean>): Promise<void> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) {
      if (await look()) return;
    }
    throw new Error('It did not happen in time.');
  };

  it('are heard, start executions, and can be read', async () => {
    const { path } = await makeRecordType(tenant);
    await define('hears', [{ hear: { listen: { to: { one: made } } } }]).expect(201);
    const kept = [{ kept: { set: { id: '${ input.id }' } } }];
    await define('begins', kept, { schedule: { on: { one: made } } }).expect(201);
    const { body } = await tenant
      .post('/v1/workflows/hears/execute', { data: {}, async: true })
      .expect(200);
    const hearing = `/v1/workflows/hears/executions/${body.executionId}`;
    const { platform } = instance.platform.database;
    await until(async () => {
      const rows = await platform('workflow_listener').where({ tenant_id: tenant.id });
      return rows.length === 1;
    });
    const { id } = (await tenant.post(path, { data: deep() }).expect(201)).body;
    await until(() => completed(hearing));
    const executions = '/v1/workflows/begins/executions';
    const begun = async (): Promise<{ readonly executionId: string; readonly status: string }[]> =>
      (await tenant.get(executions).expect(200)).body.data;
    await until(async () => (await begun())[0]?.status === 'completed');
    const [first] = await begun();
    expect((await tenant.get(`${executions}/${first?.executionId}`).expect(200)).body).to.include({
      status: 'completed',
    });
    await tenant.get(`${path}/${id}`).expect(200);
    const audit = await tenant.get(`/v1/audit?entity=record&id=${id}`).expect(200);
    expect(audit.body.data).to.have.length(1);
  });
});
