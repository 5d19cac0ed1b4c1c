import { expect } from 'chai';
import { flowIdOf } from '../../../src/schemas/flows/flow-id.js';
import type { TestTenant } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance } from '../../support/servers/use-instance.js';

const definitionOf = (name: string, size = 1) => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: [{ say: { set: { size } } }],
  },
});

// spec/beyond.md R521
describe("tenants' workflows of a name that became built in later", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const names = ['retry-usage', 'promote-repricing', 'dismiss-usage-events'];

  /** What a tenant has that published it before: it is made under another name, and gets this one. */
  const publish = async (tenant: TestTenant, name: string): Promise<string> => {
    const { id } = (await tenant.post('/v1/workflows', definitionOf('mine')).expect(201)).body;
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query('update workflow_definition set name = $1 where id = $2', [name, id]);
      await client.query(
        `update workflow_version set definition = replace(definition, '"mine"', $1)
         where definition_id = $2`,
        [JSON.stringify(name), id],
      );
    });
    return id as string;
  };
  const listed = async (tenant: TestTenant, key: string): Promise<string[]> => {
    const { body } = await tenant.get(`/v1/workflows/${key}/executions`).expect(200);
    return body.data.map(({ executionId }: { executionId: string }) => executionId);
  };

  it('are executed, changed and deleted by it, and have their executions under it', async () => {
    const tenant = await instance.tenant();
    const id = await publish(tenant, 'retry-usage');
    const path = '/v1/workflows/retry-usage';
    const { body: own } = await tenant.post(`${path}/execute`, { data: {} }).expect(200);
    expect(own).to.include({ status: 'completed', workflowId: id });
    expect(await listed(tenant, 'retry-usage')).to.deep.equal([own.executionId]);

    const { body: check } = await tenant
      .post('/v1/workflows/validate', definitionOf('retry-usage'))
      .expect(200);
    expect(check).to.deep.equal({ valid: true, faults: [] });
    const { body: next } = await tenant.put(path, definitionOf('retry-usage', 2)).expect(200);
    expect(next).to.include({ id, version: 2 });
    expect((await tenant.get(path).expect(200)).body.version).to.equal(2);
    await tenant.post('/v1/workflows', definitionOf('retry-usage')).expect(409);

    await tenant.delete(path).expect(204);
    // Its history stays, and the name is that of what is built in alone.
    expect(await listed(tenant, 'retry-usage')).to.deep.equal([own.executionId]);
    await tenant.post('/v1/workflows', definitionOf('retry-usage')).expect(409);
    await tenant.put(path, definitionOf('retry-usage')).expect(409);
    await tenant.delete(path).expect(409);
  });

  it('do not hide the executions of what is built in', async () => {
    const tenant = await instance.tenant();
    await publish(tenant, 'retry-usage');
    const path = '/v1/workflows/retry-usage';
    const { body: own } = await tenant.post(`${path}/execute`, { data: {} }).expect(200);
    const retry = async () => (await tenant.post('/v1/usage-events/retry', {}).expect(200)).body;
    const { executionId } = await retry();
    expect(await listed(tenant, 'retry-usage')).to.deep.equal([own.executionId]);
    const builtIn = flowIdOf('retry-usage');
    expect(await listed(tenant, builtIn)).to.deep.equal([executionId]);
    // The console leads there by the name.
    const { body } = await tenant.get(`${path}/executions/${executionId}`).expect(200);
    expect(body).to.include({ workflowId: builtIn, workflowVersion: null, status: 'completed' });
    await tenant.get(`${path}/executions/${executionId}/deliveries`).expect(200);
    await tenant.post(`${path}/executions/${executionId}/cancel`, {}).expect(409);
    await tenant.get(`/v1/workflows/${builtIn}/executions/${own.executionId}`).expect(404);
  });

  it('are none of tenants that had none', async () => {
    const tenant = await instance.tenant();
    for (const name of names) {
      await tenant.post('/v1/workflows', definitionOf(name)).expect(409);
      expect(await listed(tenant, name)).to.deep.equal([]);
      const { body } = await tenant.post('/v1/workflows/validate', definitionOf(name)).expect(200);
      expect(body.valid).to.equal(false);
    }
  });
});
